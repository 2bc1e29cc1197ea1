import IndoorLocalization
import IndoorLocalizationTesting

/// Changes to a data set before it is evaluated: another receiver, fewer sensors, a smaller survey, faults of beacons.
struct EvaluationConditions: Sendable {
    /// The data that `--without` removes.
    enum Part: String, CaseIterable, Sendable {
        /// Inertial samples, steps and air pressure.
        case motion
        /// The survey's recordings and the packet's radio map.
        case survey
    }

    /// The offset in dB added to the RSSI of each sighting, as of another receiver.
    var shift = 0.0
    /// The parts that are removed.
    var without: Set<Part> = []
    /// The share of the survey's recordings to keep, in (0, 1].
    var surveyShare = 1.0
    /// The faults of beacons and attacks on the radio.
    var disturbances: [Disturbance] = []
    /// The seed that selects the disturbed beacons.
    var seed: UInt64 = 0

    /// Whether the device in a track's header applies; an RSSI offset stands for another device.
    var namesDevice: Bool { shift == 0 }

    /// The changes in words; empty without changes.
    var words: [String] {
        var words: [String] = []
        if shift != 0 { words.append("RSSI \(shift > 0 ? "+" : "")\(JSONText.number(shift, decimals: 1)) dB") }
        words += without.map(\.rawValue).sorted().map { "without \($0)" }
        if surveyShare < 1 { words.append("\(JSONText.number(surveyShare * 100, decimals: 0)) % of the survey") }
        return words
    }

    /// Returns the reading under these conditions; nil if it is removed.
    func adapted(_ reading: SensorReading) -> SensorReading? {
        switch reading {
        case .sighting(var sighting):
            guard shift != 0, Sighting.isMeasurement(rssi: sighting.rssi) else { return reading }
            sighting.rssi += shift
            return .sighting(sighting)
        case .advertisement(var advertisement):
            guard shift != 0, Sighting.isMeasurement(rssi: advertisement.rssi) else { return reading }
            advertisement.rssi += shift
            return .advertisement(advertisement)
        case .motion, .step, .pressure:
            return without.contains(.motion) ? nil : reading
        case .gnss, .fix, .range, .radio:
            return reading
        }
    }

    /// Returns a random selection of the survey's recordings, in their order.
    func kept(_ surveys: [String], seed: UInt64) -> [String] {
        guard !without.contains(.survey) else { return [] }
        guard surveyShare < 1, !surveys.isEmpty else { return surveys }
        var generator = SeededGenerator(seed: seed)
        let count = max(1, Int((Double(surveys.count) * surveyShare).rounded()))
        return surveys.indices.shuffled(using: &generator).prefix(count).sorted().map { surveys[$0] }
    }

    /// Returns the venue without removed data.
    func adapted(_ venue: Venue) -> Venue {
        var venue = venue
        if without.contains(.survey) { venue.radioMap = nil }
        return disturbed(venue)?.venue ?? venue
    }
}

extension EvaluationConditions {
    /// Returns a data set's venue with the disturbances; nil without any.
    func disturbed(_ venue: Venue) -> DisturbedVenue? {
        disturbances.isEmpty ? nil : DisturbedVenue(venue, disturbances, seed: seed)
    }
}

extension ParsedArguments {
    /// The options that set the conditions.
    static let conditionOptions = [
        CommandOption(
            name: "shift", argument: "DB", help: "add DB to each RSSI; several values with commas print one line each"),
        CommandOption(name: "without", argument: "WHAT", help: "remove 'motion', 'survey', or both with a comma"),
        CommandOption(
            name: "survey-share", argument: "S", help: "learn from this share of the survey, above 0, at most 1"),
        CommandOption(
            name: "disturb", argument: "WHAT",
            help: "add faults of beacons or attacks, such as 'clone=1,-50dBm'; several with ';'"),
    ]

    /// The given conditions, one for each shift.
    func conditions() throws(UsageError) -> [EvaluationConditions] {
        var conditions = EvaluationConditions()
        for word in value("without")?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
            guard let part = EvaluationConditions.Part(rawValue: String(word)) else {
                let known = EvaluationConditions.Part.allCases.map(\.rawValue).joined(separator: " or ")
                throw UsageError(message: "--without must be \(known), not '\(word)'", command: syntax.name)
            }
            conditions.without.insert(part)
        }
        if let text = value("survey-share") {
            guard let share = Double(text), share > 0, share <= 1 else {
                throw UsageError(
                    message: "--survey-share must be a number above 0 and at most 1, not '\(text)'",
                    command: syntax.name)
            }
            conditions.surveyShare = share
        }
        conditions.seed = try seed()
        for text in value("disturb")?.split(separator: ";", omittingEmptySubsequences: false) ?? [] {
            do throws(DisturbanceError) {
                conditions.disturbances.append(try Disturbance(String(text)))
            } catch {
                throw UsageError(message: "--disturb: \(error)", command: syntax.name)
            }
        }
        guard let text = value("shift") else { return [conditions] }
        var list: [EvaluationConditions] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let shift = Double(word), abs(shift) <= 60 else {
                throw UsageError(
                    message: "--shift must be a number of decibels from -60 to 60, not '\(word)'", command: syntax.name)
            }
            conditions.shift = shift
            list.append(conditions)
        }
        return list
    }
}
