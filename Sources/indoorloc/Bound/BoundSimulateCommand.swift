import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets

/// The command `simulate`, with a comparison with what is possible in place of a walk.
struct BoundSimulateCommand: Command {
    static let syntax = boundSyntax

    /// What `--bound` asks for.
    private struct Comparison: Sendable {
        let venue: String
        let mapID: MapID?
        let settings: StaticHallSettings
        let particles: Int
        let seed: UInt64
        let isJSON: Bool
    }

    private enum Task: Sendable {
        case walk(SimulateCommand)
        case comparison(Comparison)
    }

    private let task: Task

    init(_ arguments: ParsedArguments) throws {
        let name = Self.syntax.name
        guard arguments.has("bound") else {
            if let option = Self.boundOptions.map(\.name).first(where: arguments.has) {
                throw UsageError(message: "--\(option) goes with --bound alone", command: name)
            }
            task = .walk(try SimulateCommand(arguments))
            return
        }
        if let option = ["path", "output", "set"].first(where: arguments.has) {
            throw UsageError(message: "--bound and --\(option) don't go together", command: name)
        }
        var settings = StaticHallSettings()
        settings.areaPerBeacon = try arguments.decimal("area", in: 1...10_000, else: settings.areaPerBeacon)
        settings.shadowing = try arguments.decimal("sigma", in: 0.1...20, else: settings.shadowing)
        settings.exponent = try arguments.decimal("exponent", in: 1...6, else: settings.exponent)
        settings.height = try arguments.decimal("height", in: 0.1...20, else: settings.height)
        settings.seconds = try arguments.number("seconds", in: 1...600, else: settings.seconds)
        settings.places = try arguments.number("places", in: 1...1_000_000, else: settings.places)
        settings.gridEdge = try arguments.decimal("grid", in: 0.02...5, else: settings.gridEdge)
        settings.isIndependent = arguments.has("independent")
        let map: Int? = arguments.has("map") ? try arguments.number("map", in: 0...Int.max, else: 0) : nil
        let particles = try arguments.number(
            "particles", in: 100...1_000_000, else: PositioningSettings().particleCount)
        task = .comparison(
            Comparison(
                venue: try arguments.required("venue"), mapID: map.map(MapID.init(rawValue:)), settings: settings,
                particles: particles, seed: try arguments.seed(), isJSON: arguments.has("json")))
    }

    func run() async throws {
        switch task {
        case .walk(let command): try command.run()
        case .comparison(let comparison): try Self.run(comparison)
        }
    }

    private static func run(_ comparison: Comparison) throws {
        let venue = try VenuePacketReader().read(comparison.venue).venue
        let progress = ProgressLine()
        defer { progress.clear() }
        let result: StaticComparison
        do throws(StaticHallError) {
            result = try StaticComparison.measure(
                venue: venue, mapID: comparison.mapID, settings: comparison.settings,
                particleCount: comparison.particles, seed: comparison.seed
            ) { done in progress.show("places: \(done) of \(comparison.settings.places)") }
        } catch {
            throw DataSetError(description: "\(comparison.venue): \(error)")
        }
        progress.clear()
        try StandardOutput.write((comparison.isJSON ? result.json : result.lines) + "\n")
    }
}

extension ParsedArguments {
    /// The value of an option that is a number within `range`; `standard` if it was not given.
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
