import Foundation
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
