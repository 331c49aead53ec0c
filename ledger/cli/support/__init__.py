"""What several commands share: options and values, the output, the mirror, completion."""
