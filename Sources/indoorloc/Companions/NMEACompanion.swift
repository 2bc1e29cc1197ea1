import Foundation
import GPSDReceiving
import IndoorLocalization
import NMEASending

/// The companion that sends the positions of a session as NMEA 0183, and reports the connections on standard error.
struct NMEACompanion: SessionCompanion {
    /// The destinations, with the ports that were chosen.
    let destinations: [NMEADestination]
    /// The coordinates that were sent.
    let echo = SentCoordinates()
    private let senders: [NMEASender]

    /// Begins to listen at the destinations that are servers.
    init(_ destinations: [NMEADestination]) throws(NMEAError) {
        var senders: [NMEASender] = []
        for destination in destinations {
            let sender = try NMEASender(destination) { Self.report($0, of: destination) }
            senders.append(sender)
            switch sender.destination {
            case .tcpListener(let host, _):
                StandardError.line("NMEA 0183: listening at \(sender.destination)", .info)
                if !LoopbackHost.contains(host) {
                    let warning = "other machines can read the positions there, as the protocol has no passwords"
                    StandardError.line("NMEA 0183: \(warning); use 127.0.0.1 for this machine only", .warning)
                }
            case .unixListener: StandardError.line("NMEA 0183: listening at \(sender.destination)", .info)
            case .udp, .tcp, .file: break
            }
        }
        self.senders = senders
        self.destinations = senders.map(\.destination)
    }

    func run(beside localizer: Localizer) async {
        let outputs = localizer.outputs
        var encoder = NMEAEncoder()
        for await output in outputs {
            if case .position(let position) = output.content { position.coordinate.map(echo.send) }
            let hadOmitted = encoder.omitted > 0
            send(encoder.sentences(for: output.content, at: Self.now))
            if !hadOmitted, encoder.omitted > 0, case .position(let position) = output.content {
                let reason = "map \(position.mapID) has no georeference, so its positions are not sent"
                StandardError.line("NMEA 0183: \(reason)", .warning)
            }
        }
        send(encoder.end(at: Self.now))
        for sender in senders { await sender.finish() }
    }

    private func send(_ sentences: [NMEASentence]) { for sender in senders { sender.send(sentences) } }

    /// The wall clock. A position is sent when the session emits it.
    private static var now: UnixTime { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    private static func report(_ status: NMEAStatus, of destination: NMEADestination) {
        switch status {
        case .sending(let lost):
            let losses = lost > 0 ? "; \(lost.counting("position")) lost" : ""
            StandardError.line("NMEA 0183: sending to \(destination)\(losses)", .info)
        case .failed(let error): StandardError.line("NMEA 0183: \(error); the session continues", .warning)
        case .readerTooSlow:
            StandardError.line("NMEA 0183: a reader of \(destination) is too slow and loses positions", .warning)
        }
    }
}

/// The coordinates that a session sends. A class, as the sender and the receiver share it.
final class SentCoordinates: Sendable {
    private let watch = Guarded(EchoWatch())

    func send(_ coordinate: Coordinate) { watch.withLock { $0.send(coordinate) } }

    /// Reports whether a satellite position repeats a position that the session sent.
    func receive(_ coordinate: Coordinate) -> EchoWatch.Outcome { watch.withLock { $0.receive(coordinate) } }
}

/// A satellite receiver that discards the positions that this session sends.
///
/// gpsd may receive these positions indirectly, such as from another program. The stream throws `NMEAError.echo` when
/// it is certain that gpsd repeats them.
struct EchoFreeSource: GNSSSource {
    /// The maximum number of positions that wait for the session: several minutes of a receiver's output.
    private static let limit = 256

    let source: any GNSSSource
    let echo: SentCoordinates

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        .produced(bufferingPolicy: .bufferingNewest(Self.limit)) { continuation in
            for try await fix in source.fixes() {
                switch echo.receive(fix.coordinate) {
                case .foreign: continuation.yield(fix)
                case .suspect: break
                case .echo: throw NMEAError.echo
                }
            }
        }
    }
}

/// The options of the commands that send their positions as NMEA 0183, and their values.
struct NMEAOptions: Sendable {
    static let options = [
        CommandOption(
            name: "nmea", argument: "ADDRESS",
            help:
                "send positions as NMEA 0183: udp://HOST:PORT, tcp[-listen]://HOST:PORT, unix-listen://PATH, or a file")
    ]

    /// The maximum number of destinations.
    private static let largestCount = 16

    private let destinations: [NMEADestination]
    private let files: [OutputFile]

    /// Reads the options of a command; returns nil without `--nmea`.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let texts = arguments.values["nmea"] else { return nil }
        let command = arguments.syntax.name
        guard texts.count <= Self.largestCount else {
            throw UsageError(message: "--nmea can be given \(Self.largestCount) times at most", command: command)
        }
        var destinations: [NMEADestination] = []
        for text in texts {
            do throws(NMEAError) { destinations.append(try NMEADestination(text)) } catch {
                throw UsageError(message: "--nmea: \(error)", command: command)
            }
        }
        self.destinations = destinations
        let inputs = arguments.inputs(except: ["nmea"])
        files = destinations.compactMap { destination in
            guard case .file(let path) = destination else { return nil }
            return OutputFile(path: path, existing: .extended, inputs: inputs, isPrivate: true)
        }
    }

    /// Checks before the session starts that positions in the venues have coordinates, that the files can be written,
    /// and that gpsd doesn't read what is sent.
    ///
    /// - Parameters:
    ///   - venues: the venues of the session; empty if they are unknown.
    ///   - gpsd: the session's satellite receiver; nil for none.
    /// - Throws: `CommandError` for a venue without a georeference, `OutputFile.Failure`, or `GPSDError.ownPositions`.
    func check(_ venues: [Venue], _ gpsd: GPSDSource?) throws {
        for file in files { try file.check() }
        for venue in venues {
            do throws(NMEAError) { try venue.checkCoordinates() } catch {
                throw CommandError(description: "--nmea: '\(venue.name)': \(error)")
            }
        }
        guard var gpsd else { return }
        gpsd.ownDevices = destinations.compactMap(\.gpsdDevice)
        try gpsd.checkDevices()
    }

    /// Begins to listen at the destinations that are servers.
    func companion() throws(NMEAError) -> NMEACompanion { try NMEACompanion(destinations) }
}

extension NMEACompanion {
    /// Returns a receiver that discards the positions that this session sends.
    func separated(from gpsd: GPSDSource) -> EchoFreeSource {
        var gpsd = gpsd
        gpsd.ownDevices = destinations.compactMap(\.gpsdDevice)
        return EchoFreeSource(source: gpsd, echo: echo)
    }
}
