"""Type signatures: what a tool takes and gives, in gram, and the same in JSON Schema.

`values` is what a signature says; `reader` reads it from patterns and `writer` writes it;
`hindley_milner` reads the text form; `to_schema` and `from_schema` go between it and JSON Schema;
`schema_comparison` tells whether two schemas say the same; `parsing` reads a signature in any of
its forms and `forms` goes from one to another.
"""
