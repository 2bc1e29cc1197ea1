import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets

/// The comparison of the engine with theoretical bounds: `simulate --bound`.
struct BoundComparison: Sendable {
    private let venue: String
    private let mapID: MapID?
    private let settings: StaticHallSettings
    private let particles: Int
    private let seed: UInt64
    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws {
        var settings = StaticHallSettings()
        settings.areaPerBeacon = try arguments.decimal("area", in: 1...10_000, else: settings.areaPerBeacon)
        settings.shadowing = try arguments.decimal("sigma", in: 0.1...20, else: settings.shadowing)
        settings.exponent = try arguments.decimal("exponent", in: 1...6, else: settings.exponent)
        settings.height = try arguments.decimal("height", in: 0.1...20, else: settings.height)
        settings.seconds = try arguments.number("seconds", in: 1...600, else: settings.seconds)
        settings.places = try arguments.number("places", in: 1...1_000_000, else: settings.places)
        settings.gridEdge = try arguments.decimal("grid", in: 0.02...5, else: settings.gridEdge)
        settings.isIndependent = arguments.has("independent")
        self.settings = settings
        mapID = arguments.has("map") ? MapID(rawValue: try arguments.number("map", in: 0...Int.max, else: 0)) : nil
        particles = try arguments.number("particles", in: 100...1_000_000, else: PositioningSettings().particleCount)
        venue = try arguments.requiredInput("venue")
        seed = try arguments.seed()
        isJSON = arguments.has("json")
    }

    func run() throws {
        let venue = try VenuePacketReader().read(venue).venue
        let progress = ProgressLine()
        defer { progress.clear() }
        let result: StaticComparison
        do throws(StaticHallError) {
            result = try StaticComparison.measure(
                venue: venue, mapID: mapID, settings: settings, particleCount: particles, seed: seed
            ) { done in progress.show("places: \(done) of \(settings.places)") }
        } catch {
            throw CommandError(description: "\(self.venue): \(error)")
        }
        progress.clear()
        try StandardOutput.write((isJSON ? result.json : result.lines) + "\n")
    }
}

extension ParsedArguments {
    /// The value of an option, a number within `range`; `standard` if the option was not given.
    fileprivate func decimal(
        _ option: String, in range: ClosedRange<Double>, else standard: Double
    ) throws(UsageError) -> Double {
        guard let text = value(option) else { return standard }
        guard let number = Double(text), range.contains(number) else {
            let allowed = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError(message: "--\(option) must be \(allowed), not '\(text)'", command: syntax.name)
        }
        return number
    }
}

extension StaticComparison {
    /// The figures as a JSON object.
    var json: String {
        var json = JSONText()
        json.add("beacons", beacons)
        json.add("places", places)
        json.add("engine", engine, decimals: 4)
        json.add("exact", exact, decimals: 4)
        json.add("cramerRao", cramerRao, decimals: 4)
        json.add("engineAtDefaults", engineAtDefaults, decimals: 4)
        json.add("ratio", ratio, decimals: 4)
        return json.text
    }

    /// The figures, one per line, with the ratio last.
    var lines: String {
        func metres(_ value: Double) -> String { JSONText.number(value, decimals: 3) + " m" }
        return """
            places                 \(places), beacons \(beacons)
            engine                 \(metres(engine))
            exact posterior mean   \(metres(exact))
            Cramer-Rao bound       \(metres(cramerRao))
            engine at defaults     \(metres(engineAtDefaults))
            engine / exact         \(JSONText.number(ratio, decimals: 3))
            """
    }
}
