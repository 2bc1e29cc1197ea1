import Foundation
import Glibc
import IndoorLocalization
import LiveMap
import LiveSurvey
import SecretFiles
import SessionMetrics
import VenuePackets

/// The companion that serves a live map of a session, and reports the address on standard error.
struct LiveMapCompanion: SessionCompanion {
    /// Returns the text of a session's metrics.
    typealias Metrics = @Sendable (Localizer) async -> String

    /// Stores a mark of the ground truth, and returns the reason if it doesn't.
    typealias Marks = @Sendable (LiveMapFrame.Place) async -> String?

    /// Returns the metrics of a session in the OpenMetrics format.
    ///
    /// - Parameter lost: counts the readings that the session was too slow for.
    static func metrics(lost: LostReadings) -> Metrics {
        let start = ContinuousClock.now
        return { localizer in
            let memory = ResidentMemory.bytes
            return SessionMetrics.text(
                of: await SessionFacts(
                    of: localizer, uptime: start.duration(to: .now), lostReadings: lost.total, residentMemory: memory))
        }
    }

    let listener: LiveMapListener
    /// The venues that are known before the session finds one.
    var venues: [Venue] = []
    let plans: any LiveMapPlans
    /// The content of `/metrics`; nil for none.
    var metrics: Metrics?
    /// Nil if marks aren't stored.
    var marks: Marks?
    /// Returns the history of a venue's beacons; nil for none.
    var beaconHistory: LiveMapRoutes.BeaconHistory?
    /// Records surveys with this device; nil for none.
    var survey: DeviceSurvey?

    func run(beside localizer: Localizer) async {
        let content = LiveMapSession(
            localizer, title: ProcessInfo.processInfo.hostName, venues: venues, plans: plans, marks: marks)
        let start = ContinuousClock.now
        if metrics != nil { await localizer.measureCycles { start.duration(to: .now) } }
        do throws(LiveMapError) {
            let metrics = metricsText(of: localizer)
            let routes: any HTTPRoutes =
                if let survey {
                    SurveyedMapRoutes(
                        content: content, desk: survey.desk, metrics: metrics, beaconHistory: beaconHistory)
                } else {
                    LiveMapRoutes(content: content, metrics: metrics, beaconHistory: beaconHistory)
                }
            let server = try LiveMapServer(routes: routes, listener: listener)
            StandardError.line("live map: \(server.url)", .info)
            await content.run()
            server.stop()
        } catch { StandardError.line("live map: \(error)", .warning) }
    }

    private func metricsText(of localizer: Localizer) -> (@Sendable () async -> String)? {
        guard let metrics else { return nil }
        return { [weak localizer] in
            guard let localizer else { return "# EOF\n" }
            return await metrics(localizer)
        }
    }
}

extension MarkedPlace {
    /// Creates the place of a mark on a live map.
    init(_ place: LiveMapFrame.Place) {
        self.init(mapID: MapID(rawValue: place.mapId), point: MapPoint(x: place.x, y: place.y))
    }
}

/// The options of the commands that serve a live map of their session, and their values.
struct LiveMapOptions: Sendable {
    static let options = options(serving: "a live map")

    /// Returns the options for a page, such as `a live map`.
    static func options(serving page: String) -> [CommandOption] {
        [
            CommandOption(
                name: "http", argument: "ADDRESS",
                help: "serve \(page) and its data by HTTP at HOST:PORT or PORT, such as 127.0.0.1:8080"),
            CommandOption(
                name: "http-token-file", argument: "FILE",
                help: "file with the token that all requests need; required unless ADDRESS is a loopback address"),
        ]
    }

    private let address: LiveMapAddress
    private let tokenFile: SecretFile?

    /// Reads the options of a command; returns nil without `--http` and without a standard address.
    ///
    /// - Parameter standard: the address without `--http`; nil for no page.
    init?(_ arguments: ParsedArguments, standard: String? = nil) throws {
        let command = arguments.syntax.name
        tokenFile = arguments.secretFile("http-token-file", .token)
        guard let text = arguments.value("http") ?? standard else {
            guard tokenFile != nil else { return nil }
            throw UsageError(message: "--http-token-file requires --http", command: command)
        }
        do throws(LiveMapError) { address = try LiveMapAddress(text) } catch {
            throw UsageError(message: "--http: \(error)", command: command)
        }
        guard tokenFile != nil || address.isLoopback else {
            throw UsageError(
                message: "--http: other hosts can reach \(address); add --http-token-file, or use 127.0.0.1",
                command: command)
        }
    }

    /// Listens at the address.
    ///
    /// - Throws: `CommandError` or `SecretFileError` if the token file can't be used, or `LiveMapError` if the address
    ///   can't be used.
    func listener() throws -> LiveMapListener {
        do {
            return try LiveMapListener(address, token: try tokenFile.map(Self.token))
        } catch let error as LiveMapError {
            guard case .badToken = error, let tokenFile else { throw error }
            throw CommandError(description: "--http-token-file \(tokenFile.path): \(error)")
        }
    }

    private static func token(in file: SecretFile) throws -> String {
        do throws(SecretFileError) { return try file.line() } catch {
            guard case .unreadable(code: ENOENT) = error.reason else { throw error }
            let advice = "create it with 'openssl rand -hex 16 >\(file.path)' and 'chmod 600 \(file.path)'"
            throw CommandError(description: "\(error); \(advice)")
        }
    }
}

/// The physical memory of this process.
package enum ResidentMemory {
    /// The number of bytes; nil if the kernel doesn't report it.
    package static var bytes: Int? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = fread(&text, 1, text.count, file)
        // The second field is the resident size in pages.
        let fields = String(decoding: text.prefix(count), as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}
