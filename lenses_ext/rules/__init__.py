"""What can be wrong in a program: tables of rules, types along arrows, validation."""
