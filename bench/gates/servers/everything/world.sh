# This server reads no files.
