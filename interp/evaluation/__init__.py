"""What a program is worth: cases, tests, comparisons with statistics, and properties."""
