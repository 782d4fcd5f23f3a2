-- The statements of a store that are longer than a line, by their names, see `statements_of`.

-- name: create_run
INSERT INTO gram_runs (
    id, status, agent, model, filename, program, parent, tenant, conversation, priority, trace,
    messages, input_tokens, output_tokens, reason, owner, created, changed, fence, leased_until
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {clock}, {clock}, 0, 0)
ON CONFLICT (id) DO NOTHING
RETURNING id

-- name: runs
SELECT
    created, id,
    CASE WHEN status = 'running' AND leased_until < {clock} THEN 'left' ELSE status END,
    agent, model, filename, program, parent, tenant, conversation, priority, trace,
    changed, input_tokens, output_tokens, reason,
    (SELECT max(seq) + 1 FROM gram_entries WHERE run = id), owner
FROM gram_runs

-- name: append
INSERT INTO gram_entries (run, seq, fence, text)
SELECT id, ?, fence, ? FROM gram_runs WHERE id = ? AND fence = ?{row_lock}
ON CONFLICT (run, seq) DO NOTHING
RETURNING seq

-- name: holder
SELECT
    status, COALESCE(owner, ''), leased_until,
    owner IS NULL OR leased_until < {clock},
    conversation, messages
FROM gram_runs WHERE id = ?

-- name: claim
UPDATE gram_runs
SET fence = fence + 1, owner = ?, leased_until = {clock} + ?, changed = {clock},
    status = 'running', reason = NULL
WHERE id = ? AND {condition}
RETURNING fence, (SELECT max(seq) + 1 FROM gram_entries WHERE run = id)

-- name: renew
UPDATE gram_runs SET leased_until = {clock} + ?
WHERE owner IS NOT NULL AND id = ? AND fence = ?
RETURNING id

-- name: let_go
UPDATE gram_runs
SET owner = NULL, leased_until = 0, changed = {clock}, status = ?,
    input_tokens = COALESCE(?, input_tokens), output_tokens = COALESCE(?, output_tokens),
    reason = ?
WHERE id = ? AND fence = ?
RETURNING conversation, messages

-- name: other_turns_under_way
SELECT id, owner FROM gram_runs
WHERE conversation = ? AND id <> ? AND status = 'running' AND leased_until >= {clock}

-- name: messages
SELECT text FROM gram_messages WHERE conversation = ? AND seq >= ? AND seq < ? ORDER BY seq

-- name: unfinished_turn
SELECT id FROM gram_runs JOIN gram_conversations ON conversation = name
WHERE name = ? AND messages = size AND queue IS NULL
    AND status NOT IN ('done', 'cancelled', 'queued')
ORDER BY created DESC LIMIT 1

-- name: turn_on_its_way
SELECT id FROM gram_runs
WHERE conversation = ?
    AND (status = 'queued' OR (status = 'running' AND leased_until >= {clock}))

-- name: begin_turn
INSERT INTO gram_conversations (name, size, run, program, changed) VALUES (?, 0, '', ?, {clock})
ON CONFLICT (name) DO UPDATE SET program = excluded.program
RETURNING size

-- name: lock_conversation
INSERT INTO gram_conversations (name, size, run) VALUES (?, 0, '')
ON CONFLICT (name) DO UPDATE SET name = excluded.name
RETURNING size, run

-- name: grow_conversation
UPDATE gram_conversations SET size = ?, run = ?, changed = {clock} WHERE name = ?

-- name: conversations
SELECT changed, name FROM gram_conversations
WHERE size > 0 AND changed < COALESCE(?, changed + 1)

-- name: forget_empty_conversations
DELETE FROM gram_conversations
WHERE size = 0 AND changed < ?
    AND NOT EXISTS (SELECT 1 FROM gram_runs WHERE conversation = name)
