; Names and labels. Of several captures of one node the later ones count.
(comment) @comment @spell
(symbol) @constant
(pattern_reference (symbol) @function)
(subject_pattern (symbol) @function)
(node_pattern (symbol) @function)
(identified_annotation (symbol) @function)
(quoted_name) @string.special
(labels (symbol) @type)
(labels (quoted_name) @type)
((labels (symbol) @keyword.conditional)
  (#any-of? @keyword.conditional "WHEN" "OTHERWISE" "EACH" "HANDOFF"))
(property_annotation key: (symbol) @attribute)

; Records
(record_property key: (_) @property)
(map_entry key: (_) @property)

; Values
(string_literal) @string
(tagged_string) @string
(tagged_string tag: (symbol) @label)
[(integer) (decimal) (hexadecimal) (octal) (measurement) (range)] @number
(boolean_literal) @boolean

; Arrows and marks
[(right_arrow) (left_arrow) (undirected_arrow) (bidirectional_arrow)] @operator
["[" "]" "(" ")" "{" "}"] @punctuation.bracket
["," "|" ":" "::"] @punctuation.delimiter
