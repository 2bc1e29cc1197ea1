import Foundation
import IndoorLocalization
import TagTracking
import indoorloc

/// The command `load`: measures how many tags this machine locates.
struct LoadCommand: Command {
    static let syntax = CommandSyntax(
        tool: "indoorloc-fleet", name: "load", summary: "measure how many tags this machine locates",
        details: """
            Simulates tags that walk through a building with receivers on each floor, and passes their messages through
            the decoder and the engine, on all cores and as fast as they allow. About four receivers receive each
            advertisement.

            Times are processor times. The latency is the time from a reading to the first position that uses it, on a
            machine without other work; it includes the wait for the tag's next position, one a second. A core lags if
            it needs more than a second for the readings of a second. The memory of a tag excludes the tables of the
            building, which all tags share. Build with '-c release'; figures of a debug build are meaningless.

            example: indoorloc-fleet load --tags 100000 --receivers 200 --seconds 60
            """,
        options: [
            CommandOption(name: "tags", argument: "N", help: "number of tags (default 10000)"),
            CommandOption(name: "receivers", argument: "N", help: "number of receivers (default 200)"),
            CommandOption(
                name: "class", argument: "CLASS", help: "class of the tags: light or standard (default light)",
                proposals: .words(["light", "standard"])),
            CommandOption(
                name: "interval", argument: "SECONDS", help: "time between two advertisements of a tag (default 1)"),
            CommandOption(name: "cores", argument: "N", help: "number of cores (default: all of the machine)"),
            CommandOption(name: "seconds", argument: "N", help: "simulated seconds to measure (default 30)"),
            CommandOption(name: "warm-up", argument: "N", help: "simulated seconds before them (default 10)"),
            CommandOption(
                name: "seed", argument: "N", help: "random seed (default 0); the same seed gives the same readings"),
        ])

    private let settings: LoadWorker.Settings
    private let cores: Int

    init(_ arguments: ParsedArguments) throws {
        var settings = LoadWorker.Settings()
        settings.tags = try arguments.number("tags", in: 1...10_000_000, else: 10_000)
        settings.receivers = try arguments.number("receivers", in: 1...10_000, else: 200)
        settings.seconds = try arguments.number("seconds", in: 1...86_400, else: 30)
        settings.warmUp = try arguments.number("warm-up", in: 0...3600, else: 10)
        settings.interval = try arguments.seconds("interval", in: 0.05...3600, else: 1)
        settings.seed = try arguments.number("seed", in: 0...UInt64.max, else: 0)
        settings.tagClass = arguments.value("class") ?? "light"
        guard FleetSettings().classes[settings.tagClass] != nil else {
            let message = "--class must be light or standard, not '\(settings.tagClass)'"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        let all = ProcessInfo.processInfo.activeProcessorCount
        cores = min(try arguments.number("cores", in: 1...1024, else: all), settings.tags)
        self.settings = settings
    }

    func run() async throws {
        #if DEBUG
            StandardError.line("this is a debug build: the figures are meaningless")
        #endif
        let report = try await withCheckedThrowingContinuation { continuation in
            // Use a separate thread, because the work would block a thread of Swift's tasks.
            DispatchQueue(label: "IndoorLocalization.Load").async { [settings, cores] in
                continuation.resume(with: Result { try Self.measure(settings, cores: cores) })
            }
        }
        try StandardOutput.write(report.text)
    }

    private static func measure(_ settings: LoadWorker.Settings, cores: Int) throws -> LoadReport {
        let venue = LoadVenue.venue(receivers: settings.receivers)
        let model = FleetModel(venue: venue, settings: settings.fleet)
        let results = Guarded<[Result<LoadWorker.Result, GatewayError>]>([])
        DispatchQueue.concurrentPerform(iterations: cores) { core in
            let tags = settings.tags * core / cores..<settings.tags * (core + 1) / cores
            let result = Result { () throws(GatewayError) in
                var worker = LoadWorker(settings, model, tags: tags)
                return try worker.run()
            }
            results.withLock { $0.append(result) }
        }
        // The results hold the machines with their tags.
        let memory = ResidentMemory.bytes ?? 0
        let all = try results.withLock(\.self).map { try $0.get() }
        return LoadReport(all, settings, floors: venue.maps.count, residentMemory: memory)
    }
}
