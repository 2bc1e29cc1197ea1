import Foundation
import IndoorLocalization
import ScanRecording
import TextFormats
import VenueExchange
import VenuePackets

/// What is learned about without ground truth: the beacons that devices receive, or the receivers that hear tags.
enum SelfSurveySubject {
    case beacons
    case receivers

    var noun: String { self == .beacons ? "beacon" : "receiver" }

    /// What is the case in some recordings, for sentences.
    fileprivate var whatIsHeard: String {
        self == .beacons ? "which beacons are received" : "which receivers hear the tag"
    }

    /// Returns the venue in which the recordings are located; its beacons are what is learned about.
    func venue(of venue: Venue) -> Venue { self == .beacons ? venue : venue.forTags }

    /// The names of the beacons or of the receivers.
    fileprivate func names(in venue: Venue) -> [BeaconIdentity: String] {
        let names =
            switch self {
            case .beacons: venue.beacons.map { ($0.identity, $0.name) }
            case .receivers: venue.receivers.map { ($0.identity, $0.id) }
            }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }
}

/// The learning of powers and sensitivity from recordings without ground truth: `survey --self`, `evaluate --self`.
///
/// A lenient learning passes over a recording that can't be read: a running service deletes its oldest ones.
struct SelfSurvey {
    let venue: Venue
    let settings: PositioningSettings
    let strictness: RecordingReader.Strictness
    let jobs: Int
    var halves = SelfLearning.Halves.alternating

    /// The maximum number of unreadable recordings that are named.
    private static let mostReported = 5

    /// Learns from recordings; ground truth in them is not used.
    ///
    /// - Throws: `RecordingError` of the first invalid recording.
    func learn(from paths: [String], progress: ProgressLine) async throws -> SelfLearning.Outcome {
        let strictness = strictness
        let addresses = KnownAddresses(of: venue)
        let unreadable = Guarded<[String: String]>([:])
        let walks = paths.map { path -> SelfLearning.Walk in
            { observe in
                do {
                    let readings = try RecordedReadings(path: path, strictness: strictness)
                    while let reading = try readings.next() {
                        guard observe(addresses.named(reading)) else { return }
                    }
                } catch  where strictness == .lenient && (error is RecordingError || error is BTSnoopError) {
                    unreadable.withLock { $0[path] = "\(error)" }
                }
            }
        }
        var learning = SelfLearning(venue: venue, settings: settings, walks: walks, halves: halves)
        while let work = learning.jobs() {
            let stage = learning.stage
            let results = try await work.concurrentMap(
                jobs: jobs, report: { progress.show("self: \(stage), \($0) of \(work.count)") }
            ) { _, job in try job.run() }
            learning.finish(results)
        }
        progress.clear()
        let missing = unreadable.withLock { $0 }.sorted { $0.key < $1.key }
        for (_, error) in missing.prefix(Self.mostReported) {
            StandardError.line("\(error); the rest of the recording is not used", .warning)
        }
        if missing.count > Self.mostReported {
            StandardError.line(
                "\((missing.count - Self.mostReported).counting("further recording")) can't be read to the end",
                .warning)
        }
        guard let outcome = learning.outcome else { throw CommandError(description: "the learning has no result") }
        return outcome
    }
}

extension SelfLearningVerdict {
    /// The decision in a sentence.
    func words(venue: Venue, _ subject: SelfSurveySubject) -> String {
        guard let refusal else {
            return "adopted: recordings left out are predicted better with the learned values"
        }
        let reason =
            switch refusal {
            case .nothingHeard:
                (subject == .beacons
                    ? "hardly any beacon of '\(venue.name)' was received"
                    : "hardly any receiver of '\(venue.name)' has heard the tags")
                    + "; are the recordings of another venue?"
            case .tooFewBeacons(let count):
                "the power of \(count.counting(subject.noun)) is certain, and at least \(Self.fewestBeacons) are required"
            case .tooFewRecordings(let count):
                "\(count.counting("recording")) can be judged, and at least \(Self.fewestWalks) are required; 20 are usually "
                    + "enough, and with 5 positions often get worse"
            case .lossOfLevels:
                "the levels in recordings left out are predicted worse, by more than a standard error"
            case .noGainOfDetections:
                "\(subject.whatIsHeard) in recordings left out is not predicted much better with certainty: the gain less "
                    + "two standard errors is below \(JSONText.number(Self.leastGain, decimals: 2))"
            }
        return PrintableText.line("not adopted: \(reason)")
    }

    /// Returns the gains in a line; nil if nothing was compared.
    func gains(_ subject: SelfSurveySubject) -> String? {
        guard let density else { return nil }
        let received = subject == .beacons ? "received beacons" : "receivers that hear the tag"
        let parts = [("levels", density as Gain?), (received, share)].compactMap { name, gain in
            gain.map { "of \(name) \($0.words)" }
        }
        return "gain per reading, as a difference of logarithms: \(parts.joined(separator: ", ")), from "
            + "\(judged.counting("recording")) left out"
    }

    /// The decision as a JSON object.
    var json: JSONText {
        var json = JSONText()
        json.add("adopted", refusal == nil)
        json.add("judgedRecordings", judged)
        for (name, gain) in [("levelGain", density), ("detectionGain", share)] {
            guard let gain else { continue }
            var object = JSONText()
            object.add("mean", gain.mean, decimals: 4)
            object.add("standardError", gain.standardError, decimals: 4)
            json.add(name, object)
        }
        return json
    }
}

extension SelfLearningVerdict.Gain {
    /// The gain with its standard error.
    fileprivate var words: String {
        "\(mean > 0 ? "+" : "")\(JSONText.number(mean, decimals: 3)) ± \(JSONText.number(standardError, decimals: 3))"
    }
}

extension RadioCalibration {
    /// Returns the edition of a venue with these values: its version is one higher.
    func edition(of venue: Venue, _ subject: SelfSurveySubject = .beacons) -> Venue {
        let learned = applied(to: subject.venue(of: venue))
        var edition = learned
        if subject == .receivers {
            edition = venue
            for (index, beacon) in learned.beacons.enumerated() {
                edition.receivers[index].measuredPower = beacon.measuredPower
            }
        }
        edition.version += 1
        for (key, value) in settings { edition.settings.set(key, to: .number(value)) }
        return edition
    }

    /// Returns the learned values in lines.
    ///
    /// - Parameter venue: the venue before the learning.
    func lines(venue: Venue, presumed model: SignalModel, _ subject: SelfSurveySubject) -> [String] {
        func number(_ value: Double) -> String { JSONText.number(value, decimals: 1) }
        var lines = [
            "sensitivity \(number(sensitivity)) ± \(number(sensitivityError)) dBm (before \(number(model.sensitivity))), "
                + "width \(number(sensitivityWidth)) dB (before \(number(model.sensitivityWidth))), from "
                + "\(readings.counting("reading"))"
        ]
        if let floorLoss {
            lines.append(
                "loss through a floor \(number(floorLoss.value)) ± \(number(floorLoss.standardError)) dB (before "
                    + "\(number(model.floorLoss))), from \(floorLoss.readings.counting("reading")) of \(subject.noun)s on other floors"
            )
        }
        if let wallLoss {
            lines.append(
                "loss through a wall \(number(wallLoss.value)) ± \(number(wallLoss.standardError)) dB (before "
                    + "\(number(model.wallLoss))), from \(wallLoss.readings.counting("reading")) through walls of the plan"
            )
        }
        for (power, beacon, name, isUsed) in described(in: venue, subject) {
            let before = beacon.measuredPower ?? model.defaultPower
            lines.append(
                "\(name): \(number(power.value)) ± \(number(power.standardError)) dBm (before \(number(before))), from "
                    + "\(power.readings.counting("reading")) of \(power.recordings.counting("recording")), worth "
                    + "\(number(power.effectiveReadings)) independent ones"
                    + (isUsed ? "" : "; too few, not used"))
        }
        return lines
    }

    /// Returns the powers with their beacons or receivers in a venue, and whether they are used.
    private func described(
        in venue: Venue, _ subject: SelfSurveySubject
    ) -> [(power: Power, beacon: VenueBeacon, name: String, isUsed: Bool)] {
        let (used, names) = (Set(usedPowers.map(\.beacon)), subject.names(in: venue))
        let beacons = Dictionary(
            subject.venue(of: venue).beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        return powers.compactMap { power in
            beacons[power.beacon].map {
                (power, $0, names[power.beacon] ?? $0.name, used.contains(power.beacon))
            }
        }
    }

    /// Returns the learned values with what they rest on.
    func json(venue: Venue, presumed model: SignalModel, _ subject: SelfSurveySubject) -> JSONText {
        var json = JSONText()
        json.add("recordings", recordings)
        var sensitivity = JSONText()
        sensitivity.add("value", self.sensitivity, decimals: 1)
        sensitivity.add("standardError", sensitivityError, decimals: 2)
        sensitivity.add("before", model.sensitivity, decimals: 1)
        sensitivity.add("width", sensitivityWidth, decimals: 1)
        sensitivity.add("widthBefore", model.sensitivityWidth, decimals: 1)
        sensitivity.add("readings", readings)
        sensitivity.add("effectiveDetections", effectiveDetections, decimals: 1)
        json.add("sensitivity", sensitivity)
        for (name, loss, before) in [("floorLoss", floorLoss, model.floorLoss), ("wallLoss", wallLoss, model.wallLoss)]
        {
            guard let loss else { continue }
            var object = JSONText()
            object.add("value", loss.value, decimals: 2)
            object.add("standardError", loss.standardError, decimals: 2)
            object.add("before", before, decimals: 1)
            object.add("readings", loss.readings)
            json.add(name, object)
        }
        json.add(
            "\(subject.noun)s",
            described(in: venue, subject).map { power, beacon, name, isUsed in
                var entry = JSONText()
                entry.add("name", name)
                entry.add("measuredPower", power.value, decimals: 2)
                entry.add("standardError", power.standardError, decimals: 2)
                entry.add("before", beacon.measuredPower, decimals: 2)
                entry.add("readings", power.readings)
                entry.add("recordings", power.recordings)
                entry.add("effectiveReadings", power.effectiveReadings, decimals: 1)
                entry.add("isUsed", isUsed)
                return entry
            })
        return json
    }
}

extension [String: JSONValue] {
    /// Sets a setting by its dotted key, and removes other spellings of the key, dotted or nested.
    fileprivate mutating func set(_ key: String, to value: JSONValue) {
        remove(key)
        self[key] = value
    }

    private mutating func remove(_ key: String) {
        self[key] = nil
        for (outer, content) in self {
            guard key.hasPrefix(outer + "."), case .object(var inner) = content else { continue }
            inner.remove(String(key.dropFirst(outer.utf8.count + 1)))
            self[outer] = inner.isEmpty ? nil : .object(inner)
        }
    }
}
