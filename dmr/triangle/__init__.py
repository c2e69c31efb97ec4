"""The conventions of Shewchuk's Triangle: switches, file names, output; and Triangle itself as a peer."""
