"""The pages live, to this machine alone: what is shown, how it is read again when it changes, who is answered."""
