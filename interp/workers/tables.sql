-- The tables of workers, beside those of a store; what changes here is another format.
-- Nothing is lost when a crash of the server empties an unlogged table.

-- Who works now, and when it last looked for all: how its leases begin, the queues that it takes
-- runs from, and why it leaves others, by their names.
CREATE UNLOGGED TABLE gram_workers (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL,
    seen DOUBLE PRECISION NOT NULL,
    looked DOUBLE PRECISION NOT NULL,
    process TEXT NOT NULL,
    queues TEXT[] NOT NULL,
    leaves JSONB NOT NULL
);

-- What may be asked of a provider, of a model, or for a tenant.
CREATE TABLE gram_limits (
    name TEXT PRIMARY KEY,
    at_once INT,
    per_minute DOUBLE PRECISION
);

-- Until when it is left alone; how often it did not answer since it last did, and when it was
-- last asked whether it does again.
CREATE UNLOGGED TABLE gram_buckets (
    name TEXT PRIMARY KEY,
    tokens DOUBLE PRECISION NOT NULL,
    filled DOUBLE PRECISION NOT NULL,
    not_before DOUBLE PRECISION NOT NULL DEFAULT 0,
    failures INT NOT NULL DEFAULT 0,
    probed DOUBLE PRECISION NOT NULL DEFAULT 0
);

CREATE UNLOGGED TABLE gram_requests (
    name TEXT NOT NULL,
    worker TEXT NOT NULL,
    number BIGINT NOT NULL,
    since DOUBLE PRECISION NOT NULL DEFAULT extract(epoch FROM clock_timestamp()),
    PRIMARY KEY (name, worker, number)
);
