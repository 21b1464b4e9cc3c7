# The server makes its own database of notes.
