"""What commands are given: files, options, messages, tools."""
