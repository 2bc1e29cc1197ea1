import IndoorLocalization
import ScanRecording
import VenuePackets

/// The audit of a venue's beacons by recordings of many sessions, in words or as JSON.
struct SurveyAudit: Sendable {
    let venue: Venue
    let strictness: RecordingReader.Strictness
    let jobs: Int
    let seed: UInt64

    /// Audits the recordings.
    ///
    /// - Throws: `RecordingError` of the first invalid recording, `CommandError` if no recording has a reading of a
    ///   beacon of the venue.
    func audit(_ recordings: [String], progress: ProgressLine) async throws -> BeaconAudit {
        let settings = PositioningSettings()
        let empty = BeaconAudit(
            venue: venue, field: SignalField(venue: venue, model: settings.signal), settings: settings, seed: seed)
        let parts = try await recordings.concurrentMap(
            jobs: jobs, report: { progress.show("audit: \($0) of \(recordings.count) recordings") }
        ) { _, path in
            var part = empty
            let file = try RecordedReadings(path: path, strictness: strictness)
            let addresses = KnownAddresses(of: venue)
            var readings: [SensorReading] = []
            while let reading = try file.next(truth: { _ in }) { readings.append(addresses.named(reading)) }
            part.add(readings, device: file.device)
            return part
        }
        var audit = empty
        for part in parts { audit.add(part) }
        guard audit.sessionCount > 0 else {
            throw CommandError(
                description: "no recording locates the device by beacons of '\(venue.name)'; "
                    + "are the recordings of another venue?")
        }
        return audit
    }
}

extension BeaconAudit {
    /// A line about the sessions, and a line for each finding.
    var lines: [String] {
        let findings = findings()
        let hours = JSONText.number(seconds / 3600, decimals: 2)
        let need =
            findings.isEmpty
            ? "no beacon needs a technician"
            : findings.count == 1 ? "1 beacon needs a technician" : "\(findings.count) beacons need a technician"
        return [
            "\(sessionCount.counting("session")) in \(hours) h, \(receivedCount.counting("beacon")) received; \(need)"
        ]
            + findings.map(\.line)
    }

    /// The same figures as one JSON object.
    var json: JSONText {
        var json = JSONText()
        json.add("sessions", sessionCount)
        json.add("hours", seconds / 3600, decimals: 4)
        json.add("receivedBeacons", receivedCount)
        json.add("findings", findings().map(\.json))
        return json
    }
}

extension BeaconAudit.Finding {
    fileprivate var line: String {
        let message = LocalizationError.beaconFault(fault).message
        guard fault.kind != .silent else { return message }
        return "\(message) (\(places.counting("place")) in \(sessions.counting("session")))"
    }

    fileprivate var json: JSONText {
        var json = fault.json
        json.add("places", places)
        json.add("sessions", sessions)
        json.add("evidence", evidence, decimals: 1)
        json.add("message", LocalizationError.beaconFault(fault).message)
        return json
    }
}
