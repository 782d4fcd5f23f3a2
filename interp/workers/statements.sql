-- The statements of workers that are longer than a line, by their names, see `statements_of`.
-- A worker lives that was heard of within the seconds of {seen}.

-- name: job
SELECT
    queue,
    priority + CASE status WHEN 'queued' THEN 0 ELSE ? END,
    to_timestamp(greatest(due, now + ?)),
    due <= now AND ? <= 0
FROM gram_runs, (SELECT {clock} AS now) AS clock
WHERE id = ? AND queue IS NOT NULL

-- name: put_job_forward
UPDATE procrastinate_jobs SET scheduled_at = ?
WHERE queueing_lock = ? AND status = 'todo' AND scheduled_at > ?

-- name: add
UPDATE gram_runs SET queue = ?, due = ?, attempts = 0, deaths = 0 WHERE id = ? AND queue IS NULL

-- name: first_turns
-- The turn of a run's conversation that goes before it, and whether workers drive that. It is one
-- that somebody drives, or, of those that are to go on, what has begun before what has not. One
-- that can never go on keeps none waiting.
SELECT r.id, first.id, first.queue IS NOT NULL
FROM gram_runs AS r
CROSS JOIN LATERAL (
    SELECT other.id, other.queue
    FROM gram_runs AS other
    WHERE other.conversation = r.conversation AND other.id <> r.id AND (
        (other.status = 'running' AND other.leased_until >= {clock})
        OR (
            (
                other.status = 'queued'
                OR (
                    other.status IN ('running', 'stopped', 'waiting')
                    AND other.queue IS NOT NULL
                    AND NOT EXISTS (
                        SELECT 1 FROM gram_conversations AS talk
                        WHERE talk.name = other.conversation AND talk.size <> other.messages
                    )
                )
            )
            AND (other.status = 'queued', other.created, other.id)
                < (r.status = 'queued', r.created, r.id)
        )
    )
    ORDER BY other.status = 'queued', other.created, other.id
    LIMIT 1
) AS first
WHERE r.id = ANY(?)

-- name: has_gone_on
SELECT r.id
FROM gram_runs AS r JOIN gram_conversations AS talk ON talk.name = r.conversation
WHERE r.id = ? AND r.status <> 'done' AND talk.size <> r.messages
    AND EXISTS (SELECT 1 FROM gram_entries WHERE run = r.id AND seq > 0)

-- name: follow
UPDATE gram_runs AS r SET messages = talk.size
FROM gram_conversations AS talk
WHERE r.id = ? AND talk.name = r.conversation AND r.leased_until < {clock}
    AND NOT EXISTS (SELECT 1 FROM gram_entries WHERE run = r.id AND seq > 0)

-- name: next_turn
SELECT r.id
FROM gram_runs AS r JOIN gram_runs AS ended USING (conversation)
WHERE ended.id = ? AND r.status = 'queued'
ORDER BY r.created, r.id LIMIT 1

-- name: count_death
UPDATE gram_runs
SET status = 'stopped', owner = NULL, died_after = ?,
    deaths = 1 + CASE died_after WHEN ? THEN deaths ELSE 0 END
WHERE id = ? AND status = 'running' AND owner = ?

-- name: tell_some
SELECT pg_notify(channel, ?)
FROM (
    SELECT channel FROM gram_workers
    WHERE seen > {clock} - {seen} AND ? = ANY(queues)
    ORDER BY random() LIMIT 8
) AS told

-- name: workers_now
SELECT
    id,
    {clock} - seen,
    (
        SELECT coalesce(array_agg(r.id ORDER BY r.id), '{}')
        FROM gram_runs AS r
        WHERE r.status = 'running' AND starts_with(r.owner, process || '/')
            AND leased_until >= {clock}
    ),
    cardinality(queues) - 1,
    leaves
FROM gram_workers
WHERE seen > {clock} - {seen}
ORDER BY id

-- name: statuses
SELECT
    CASE WHEN status = 'running' AND leased_until < {clock} THEN 'stopped' ELSE status END,
    count(*)
FROM gram_runs
WHERE status IN ('queued', 'running', 'stopped', 'waiting')
GROUP BY 1

-- name: waiting
-- Only the first turn of a conversation can go on, see first_turns.
SELECT count(*), (array_agg(id ORDER BY since))[1], coalesce({clock} - min(since), 0)
FROM (
    SELECT
        id, status, due,
        greatest(due, CASE status WHEN 'queued' THEN created ELSE changed END) AS since,
        row_number() OVER (
            PARTITION BY conversation, CASE WHEN conversation IS NULL THEN id END
            ORDER BY
                status <> 'running' OR leased_until < {clock}, status = 'queued', created, id
        ) AS turn
    FROM gram_runs AS r
    WHERE status IN ('queued', 'running', 'stopped', 'waiting')
        AND (queue IS NOT NULL OR status = 'running' AND leased_until >= {clock})
        AND (status = 'queued' OR NOT EXISTS (
            SELECT 1 FROM gram_conversations AS talk
            WHERE talk.name = r.conversation AND talk.size <> r.messages
        ))
) AS each
WHERE turn = 1 AND status IN ('queued', 'stopped') AND due <= {clock}

-- name: seen
INSERT INTO gram_workers AS worker (id, channel, seen, looked, process, queues, leaves)
SELECT
    ?, ?, now, CASE WHEN last BETWEEN now - ? AND now THEN 0 ELSE now END, ?, ?, ?::jsonb
FROM (SELECT {clock} AS now, (SELECT max(looked) FROM gram_workers) AS last) AS clock
ON CONFLICT (id) DO UPDATE
SET seen = excluded.seen, queues = excluded.queues, leaves = excluded.leaves,
    looked = CASE excluded.looked WHEN 0 THEN worker.looked ELSE excluded.looked END
RETURNING seen, looked = seen

-- name: queues
-- From one name to the next in the index, as a queue may have many runs; each with one of them.
WITH RECURSIVE each AS (
    SELECT min(queue) AS queue FROM gram_runs
    UNION ALL
    SELECT (SELECT min(queue) FROM gram_runs WHERE gram_runs.queue > each.queue)
    FROM each WHERE queue IS NOT NULL
)
SELECT queue, (SELECT min(id) FROM gram_runs WHERE gram_runs.queue = each.queue)
FROM each WHERE queue IS NOT NULL

-- name: why_queued
SELECT
    r.id, due, due > {clock},
    coalesce(bool_or(queue = ANY(queues)), FALSE), count(w.id),
    array_agg(DISTINCT leaves ->> queue)
FROM gram_runs AS r LEFT JOIN gram_workers AS w ON seen > {clock} - {seen}
WHERE r.id = ANY(?) AND queue IS NOT NULL AND r.status IN ('queued', 'stopped')
GROUP BY r.id

-- name: limits
SELECT
    name, at_once, per_minute,
    (
        SELECT count(*) FROM gram_requests AS r JOIN gram_workers ON id = worker
        WHERE r.name = kept.name AND seen > {clock} - {seen} AND since > {clock} - {longest}
    ),
    greatest(coalesce(not_before, 0) - {clock}, 0),
    coalesce(failures, 0) > 0
FROM gram_limits AS kept FULL JOIN gram_buckets USING (name)
WHERE kept.name IS NOT NULL OR not_before > {clock} OR failures > 0
ORDER BY name

-- name: set_limit
INSERT INTO gram_limits (name, at_once, per_minute) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE
SET at_once = excluded.at_once, per_minute = excluded.per_minute

-- name: under_way
SELECT count(*) FROM gram_requests AS r JOIN gram_workers ON id = worker
WHERE r.name = ? AND seen > {clock} - {seen} AND since > {clock} - {longest}

-- name: make_buckets
INSERT INTO gram_buckets (name, tokens, filled)
SELECT name, 1, {clock} FROM gram_limits WHERE name = ANY(?)
ON CONFLICT (name) DO NOTHING

-- name: make_bucket
INSERT INTO gram_buckets (name, tokens, filled) VALUES (?, 1, {clock})
ON CONFLICT (name) DO NOTHING

-- name: buckets
SELECT
    name, tokens, {clock} - filled, not_before - {clock}, failures, probed - {clock} + ?,
    at_once, per_minute
FROM gram_buckets LEFT JOIN gram_limits USING (name)
WHERE name = ANY(?)
ORDER BY name
FOR UPDATE OF gram_buckets

-- name: hold_back
INSERT INTO gram_buckets AS held (name, tokens, filled, not_before)
VALUES (?, 1, {clock}, {clock} + ?)
ON CONFLICT (name) DO UPDATE SET not_before = greatest(held.not_before, excluded.not_before)

-- name: failed
UPDATE gram_buckets SET not_before = {clock} + ?, probed = 0, failures = failures + 1
WHERE name = ?

-- name: is_held
SELECT 1 FROM gram_buckets
WHERE name = ANY(?) AND (not_before > {clock} OR (failures > 0 AND probed > {clock} - ?))
LIMIT 1
