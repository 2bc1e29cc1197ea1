import IndoorLocalization
import MQTTSharing

/// The companion that shares the positions of a session, and reports the connection's status on standard error.
///
/// If the broker can't be reached, the session continues, and the companion tries to connect again.
struct SharingCompanion<Venues: VenueSource>: SessionCompanion {
    private let room: String
    private let sharing: MQTTPositionSharing
    private let venues: Venues

    /// - Parameter venues: the session's venues; their packets give the levels of positions.
    init(_ options: SharingOptions, venues: Venues) throws(MQTTSharingError) {
        room = options.address.room
        sharing = try options.sharing()
        self.venues = venues
    }

    func run(beside localizer: Localizer) async {
        let (positions, events) = (localizer.positions, sharing.events)
        await withTaskGroup { group in
            group.addTask { for await event in events { await report(event) } }
            group.addTask { await connectAndJoin() }
            var known: VenueID?
            for await position in positions {
                if position.venueID != known {
                    known = position.venueID
                    // The session has already loaded the packet. Without it, positions have no level.
                    if let venue = try? await venues.packet(for: position.venueID, progress: { _ in }) {
                        await sharing.useLevels(of: venue)
                    }
                }
                // An invalid position is not shared.
                try? await sharing.share(position)
            }
            group.cancelAll()
            // Also ends a pending attempt to connect.
            await sharing.disconnect()
        }
    }

    /// Connects and joins the room, with retries. Afterwards the connection is restored automatically.
    private func connectAndJoin() async {
        var backoff = Backoff(first: .seconds(1), seed: .random(in: .min ... .max))
        var lastReason: String?
        while !Task.isCancelled {
            do {
                try await sharing.connect()
                return try await sharing.join(room)
            } catch {
                let reason = "\(error)"
                if reason != lastReason, !Task.isCancelled { StandardError.line("sharing: \(reason)", .warning) }
                lastReason = reason
            }
            do { try await Task.sleep(for: backoff.next()) } catch { return }
        }
    }

    private func report(_ event: SharingEvent) async {
        switch event {
        case .connected: StandardError.line("sharing with \(sharing.broker.host) as \(sharing.device)", .info)
        case .disconnected(let reason):
            // A connection that breaks is restored unless it was ended.
            let verb = await sharing.isKept ? "is interrupted" : "has ended"
            StandardError.line("sharing \(verb): \(reason)", .warning)
        case .failed(let error): StandardError.line("sharing: \(error.message)", .warning, error.logFields)
        case .joined, .left, .position, .message, .occupancy, .roomFull, .serverFull: break
        }
    }
}
