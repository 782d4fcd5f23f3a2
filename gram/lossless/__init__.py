"""Edits that keep every byte they need not change: what `gram.Document.replace` does.

`replacement` aligns the top-level patterns and rewrites those that changed; `rewrite` does so by
the role each construct has; `writer` copies old bytes and puts new ones, as `pieces`, of which
`changes` tells where the texts differ.
"""
