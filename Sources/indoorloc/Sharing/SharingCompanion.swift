import IndoorLocalization
import MQTTSharing

/// Shares the positions of a session while it runs; what becomes of it is told on standard error.
///
/// A broker that is away, at the beginning or later, keeps nobody from knowing where the machine is: it is tried again and
/// again.
struct SharingCompanion<Venues: VenueSource>: ServiceCompanion {
    private let room: String
    private let sharing: MQTTPositionSharing
    private let venues: Venues

    /// - Parameter venues: those of the session, by whose packets the levels of positions are known.
    init(_ options: SharingOptions, venues: Venues) throws(MQTTSharingError) {
        room = options.address.room
        sharing = try options.sharing()
        self.venues = venues
    }

    func run(beside localizer: Localizer) async {
        let (positions, events) = (localizer.positions, sharing.events)
        await withTaskGroup { group in
            group.addTask { for await event in events { await tell(of: event) } }
            group.addTask { await comeIn() }
            var known: VenueID?
            for await position in positions {
                if position.venueID != known {
                    known = position.venueID
                    // The session has the packet, so it is at hand; without it the level is left out.
                    if let venue = try? await venues.packet(for: position.venueID, progress: { _ in }) {
                        await sharing.useLevels(of: venue)
                    }
                }
                // A position that makes no sense is not told.
                try? await sharing.share(position)
            }
            group.cancelAll()
            // Ends an attempt that is under way, too.
            await sharing.disconnect()
        }
    }

    /// Connects and joins, however long it takes. Afterwards the connection is kept, and the room joined again.
    private func comeIn() async {
        var backoff = Backoff(first: .seconds(1), seed: .random(in: .min ... .max))
        var lastReason: String?
        while !Task.isCancelled {
            do {
                try await sharing.connect()
                return try await sharing.join(room)
            } catch {
                let reason = "\(error)"
                if reason != lastReason, !Task.isCancelled { StandardError.line("sharing: \(reason)") }
                lastReason = reason
            }
            do { try await Task.sleep(for: backoff.next()) } catch { return }
        }
    }

    private func tell(of event: SharingEvent) async {
        switch event {
        case .connected: StandardError.line("sharing with \(sharing.broker.host) as \(sharing.device)")
        case .disconnected(let reason):
            // Without an end of its own: a connection that breaks is made anew.
            let verb = await sharing.isKept ? "pauses" : "has ended"
            StandardError.line("sharing \(verb): \(reason)")
        case .failed(let error): StandardError.line("sharing: \(error.message)")
        case .joined, .left, .position, .message, .occupancy, .roomFull, .serverFull: break
        }
    }
}
