import Foundation

/// The figures of a measurement of the load, from the results of all cores.
struct LoadReport: Sendable {
    let settings: LoadWorker.Settings
    let cores: Int
    let floors: Int
    /// The physical memory of the process in bytes, with the simulation.
    let residentMemory: Int
    private let machineMemory: Int
    private let advertisements: Int
    private let readings: Int
    private let positions: Int
    private let decoding: Double
    private let positioning: Double
    private let latencies: LoadHistogram
    private let largestLag: Double
    private let lastLag: Double
    private let busiest: Double

    init(_ results: [LoadWorker.Result], _ settings: LoadWorker.Settings, floors: Int, residentMemory: Int) {
        self.settings = settings
        self.floors = floors
        self.residentMemory = residentMemory
        machineMemory = results.reduce(0) { $0 + $1.memory }
        cores = results.count
        advertisements = results.reduce(0) { $0 + $1.advertisements }
        readings = results.reduce(0) { $0 + $1.readings }
        positions = results.reduce(0) { $0 + $1.positions }
        decoding = results.reduce(0) { $0 + $1.decoding }
        positioning = results.reduce(0) { $0 + $1.positioning }
        var latencies = LoadHistogram()
        for result in results { latencies.add(result.latencies) }
        self.latencies = latencies
        largestLag = results.map(\.largestLag).max() ?? 0
        lastLag = results.map(\.lastLag).max() ?? 0
        busiest = (results.map { $0.decoding + $0.positioning }.max() ?? 0) / Double(settings.seconds)
    }

    /// The number of tags that one core can locate at the measured rate: with this number, it needs one second for one
    /// second of readings.
    var tagsPerCore: Double {
        Double(settings.tags) * Double(settings.seconds) / max(decoding + positioning, 1e-9)
    }

    /// The lines of the report.
    var text: String {
        let perReading = { (seconds: Double) in Self.number(seconds / Double(max(readings, 1)) * 1e6, 2) + " us" }
        let perAdvertisement = Double(readings) / Double(max(advertisements, 1))
        let lines: [(String, String)] = [
            ("class", settings.tagClass),
            ("tags", "\(settings.tags), an advertisement every \(Self.number(settings.interval, 2)) s"),
            ("receivers", "\(settings.receivers) on \(floors) floors"),
            ("cores", "\(cores)"),
            ("measured", "\(settings.seconds) s after a warm-up of \(settings.warmUp) s"),
            ("readings", "\(readings), \(Self.number(perAdvertisement, 2)) per advertisement"),
            ("positions", "\(positions)"),
            ("decoder", "\(perReading(decoding)) per reading"),
            ("positioning", "\(perReading(positioning)) per reading"),
            ("one core", "\(Self.number(Double(readings) / max(decoding + positioning, 1e-9), 0)) readings per second"),
            ("tags per core", "\(Self.number(tagsPerCore, 0)) at this rate"),
            ("load", "\(Self.number(busiest * 100, 1)) % of the busiest core"),
            ("latency", "p50 \(quantile(0.5)), p99 \(quantile(0.99)) from a reading to its position"),
            ("lag", "at most \(Self.number(largestLag, 2)) s, \(Self.number(lastLag, 2)) s at the end"),
            ("memory", "\(machineMemory / max(settings.tags, 1)) bytes per tag, \(machineMemory >> 20) MiB for all"),
            ("process", "\(residentMemory >> 20) MiB resident, with the simulation"),
        ]
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { name, value in
            name + String(repeating: " ", count: width - name.count + 2) + value + "\n"
        }.joined()
    }

    private func quantile(_ share: Double) -> String {
        latencies.quantile(share).map { Self.number($0, 2) + " s" } ?? "unknown"
    }

    private static func number(_ value: Double, _ decimals: Int) -> String { String(format: "%.\(decimals)f", value) }
}
