"""Bad plans, runs, records, bundles and buckets: by name, what reads each."""

from bad_changes import Kind, flipped, of_block, of_bundle, of_json, of_record, of_zip
from bad_samples import (
    bucket_beside,
    environments,
    golden,
    in_bucket,
    plans,
    records,
    statuses,
    stop_plan,
    stops,
)

TRIAL = "run/trials/{first}/"
REPORT = ("report", "FILE")
HAR = ("export", "FILE", "--har", "--out", "OUT")
FETCH = ("fetch", "file://FILE", "OUT")

KINDS: dict[str, Kind] = {
    "plan": Kind(("plan", "check", "FILE"), plans, flipped, "plan.toml"),
    "plan.json": Kind(REPORT, golden("run/plan.json"), of_json, "run/plan.json"),
    "environment": Kind(REPORT, environments, of_json, "run/environment.json"),
    "stop.json": Kind(
        REPORT, stops, of_json, "run/stop.json", lambda: {"run/plan.json": stop_plan()}
    ),
    "status.json": Kind(("status", "FILE"), statuses, of_json, "run/status.json"),
    "record in a report": Kind(REPORT, records, of_record, TRIAL + "record.json.gz"),
    "record in HAR": Kind(HAR, records, of_record, TRIAL + "record.json.gz"),
    "record explained": Kind(
        ("explain", "trial", "FILE/../trials/{first}", "--out", "OUT.html"),
        records, of_record, TRIAL + "record.json.gz",
    ),
    "frames": Kind(REPORT, golden("run/trials/*/frames.npz"), of_zip, TRIAL + "frames.npz"),
    "last picture": Kind(REPORT, golden("run/pictures/*.webp"), flipped, "run/pictures/{picture}"),
    "bundle": Kind(("rerun", "FILE", "--out", "OUT"), golden("run.zip"), of_bundle, "run.zip"),
    "block in a bucket": Kind(
        FETCH, in_bucket("blocks/0000000.zip"), of_block, "bucket/blocks/0000000.zip", bucket_beside
    ),
    "plan in a bucket": Kind(
        FETCH, in_bucket("plan.json"), of_json, "bucket/plan.json", bucket_beside
    ),
    "machine in a bucket": Kind(
        FETCH, in_bucket("machines/0123456789.json"), of_json, "bucket/machines/0123456789.json",
        bucket_beside,
    ),
}  # fmt: skip
