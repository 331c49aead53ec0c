"""The commands, one a file and named as it; a group is one file, and so are the commands of the views."""
