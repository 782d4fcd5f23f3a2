"""Type signatures: what a tool takes and gives, in gram, and the same in JSON Schema.

`values` is what a signature says; `reader` reads it from patterns and `writer` writes it;
`hindley_milner` reads the text form; `to_schema` and `from_schema` go between it and JSON Schema;
`schema_comparison` tells whether two schemas say the same; `forms` brings all of it together for
any form of a signature.
"""
