"""The call itself: a job's input to the vendor, the vendor's answer to what may be staged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.clock import Clock
from tidegate.doors.assets import Assets
from tidegate.doors.jobs import Jobs
from tidegate.doors.staged import Staged, StagedImage
from tidegate.rules import picture, tokens
from tidegate.rules.answer import expected
from tidegate.rules.catalogue import Entry
from tidegate.rules.job import Job, Usage
from tidegate.telemetry import Telemetry
from tidegate.vendors.base import Image, Vendor, VendorAnswer, VendorCall


@dataclass(frozen=True, slots=True)
class VendorDesk:
    """Where calls leave and answers arrive."""

    jobs: Jobs
    vendor: Vendor
    assets: Assets
    clock: Clock
    telemetry: Telemetry

    def call(self, job: Job, entry: Entry) -> Staged:
        """Return the vendor's answer to a job, its images already in our bucket.

        Raises:
            VendorError: what the vendor did instead.
        """
        asked = self.jobs.input(job.id)
        begun = self.clock.now()
        call = VendorCall(
            entry=entry,
            input=asked["input"],
            params=asked["params"],
            system=asked.get("system", entry.system),  # older jobs kept none
            response_schema=asked.get("response_schema"),
            # New only after an attempt known to have failed: a vendor that honours it runs a
            # redelivered attempt once, and a retry anew instead of failing as it did before.
            idempotency_key=f"{job.id}.{job.replay_count}.{job.bad_answers + job.put_backs}",
            # An answer after the deadline is nobody's: the call ends with it at the latest.
            seconds=job.deadline_at - begun,
        )
        try:
            answer = self.vendor.call(call)
        finally:
            took = self.clock.now() - begun
            self.telemetry.duration("UpstreamLatency", took, model=job.model, vendor=entry.vendor)
            self.telemetry.bind(upstream_ms=round(took * 1000))
        return self._staged(job, entry, answer, round(took * 1000), asked)

    def _staged(
        self, job: Job, entry: Entry, answer: VendorAnswer, upstream_ms: int, asked: dict[str, Any]
    ) -> Staged:
        usage = self._usage(job, entry, answer, asked)
        structure = asked.get("structure") or {"key": None, "names": []}
        return Staged(
            job_id=job.id,
            text=answer.text,
            images=tuple(self._kept(image) for image in answer.images),
            truncated=answer.finish == "truncated",
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            upstream_ms=upstream_ms,
            vendor_request_id=answer.request_id,
            answered_at=self.clock.now(),
            expected=expected(job.task, asked),
            answered_by=answer.vendor_model,
            structure_key=structure["key"],
            names=tuple(structure["names"]),
            usage_estimated=usage.estimated,
        )

    def _usage(self, job: Job, entry: Entry, answer: VendorAnswer, asked: dict[str, Any]) -> Usage:
        """Return the tokens of a call, and tell operators if they are not the vendor's count."""
        system, schema = asked.get("system", entry.system), asked.get("response_schema")
        contract = None if entry.contract is None else entry.contract.schema_
        counted = tokens.counted(
            answer.input_tokens,
            answer.output_tokens,
            tokens.Exchange(
                most=tokens.at_most(system, asked["input"], asked["params"], schema),
                sent=tokens.sent(system, asked["input"], schema or contract),
                text=answer.text,
                images=len(answer.images),
            ),
        )
        if counted.usage.estimated:
            self.telemetry.count("UsageEstimated", model=job.model)
        if counted.unsaid:
            self.telemetry.info("usage_estimated", unsaid=" ".join(counted.unsaid))
        if counted.beyond:
            self.telemetry.count("VendorNumberBounded", model=job.model)
            self.telemetry.warn("vendor_number_bounded", of=" ".join(counted.beyond))
        return counted.usage

    def _kept(self, image: Image) -> StagedImage:
        """Return an image that is in our bucket, as the gate and partners need it."""
        seen = picture.read(image.content)
        # What is of no known kind is evidence: nobody is to open it in a browser.
        content_type = "application/octet-stream" if seen is None else seen.kind
        key = self.assets.put(image.content, content_type)
        if seen is None:
            return StagedImage(key, content_type, image.declared)
        return StagedImage(key, content_type, image.declared, seen.kind, seen.width, seen.height)
