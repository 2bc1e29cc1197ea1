import Foundation
import IndoorLocalization
import LiveMap
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

    func run(beside localizer: Localizer) async {
        let content = LiveMapSession(
            localizer, title: ProcessInfo.processInfo.hostName, venues: venues, plans: plans, marks: marks)
        let start = ContinuousClock.now
        if metrics != nil { await localizer.measureCycles { start.duration(to: .now) } }
        do throws(LiveMapError) {
            let server = try LiveMapServer(content: content, listener: listener, metrics: metricsText(of: localizer))
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
