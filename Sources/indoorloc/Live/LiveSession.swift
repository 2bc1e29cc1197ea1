import IndoorLocalization

/// A session over a live source, whose news come as one stream.
struct LiveSession: Sendable {
    /// What comes of it.
    enum News: Sendable {
        /// The session tells, its instant counted from the start.
        case told(SessionReplay.Output)
        /// The source delivers.
        case heard(SensorReading)
    }

    let venue: Venue
    let settings: SettingsStack
    let seed: UInt64
    /// Receives from satellites beside the source; nil for none.
    var gnss: (any GNSSSource)?

    /// Runs until the session is over, or the task is cancelled.
    func run(
        _ source: some ScanSource, givesReadings: Bool, _ give: @escaping @Sendable (News) -> Void
    ) async {
        let tap: @Sendable (SensorReading) -> Void = { if givesReadings { give(.heard($0)) } }
        let localizer = Localizer(
            source: TappedSource(source: source, tap: tap), gnss: gnss.map { TappedGNSSSource(source: $0, tap: tap) },
            venues: VenueLibrary([venue]), settings: settings, seed: seed)
        let start = ContinuousClock.now
        let tell: @Sendable (SessionReplay.Output.Content) -> Void = { content in
            let elapsed = start.duration(to: .now).nanoseconds
            give(.told(SessionReplay.Output(instant: Instant(nanoseconds: elapsed), content: content)))
        }
        // Taken before the start, so that nothing is missed.
        let (states, positions, outdoors, events, errors, venues) = (
            localizer.states, localizer.positions, localizer.outdoorPositions, localizer.events, localizer.errors,
            localizer.downloadedVenues
        )
        await localizer.start()
        await withTaskGroup { group in
            group.addTask { for await position in positions { tell(.position(position)) } }
            group.addTask { for await position in outdoors { tell(.outdoorPosition(position)) } }
            group.addTask { for await event in events { tell(.event(event)) } }
            group.addTask { for await error in errors { tell(.error(error)) } }
            group.addTask { for await venue in venues { tell(.downloadedVenue(venue)) } }
            // The first one is that of before the start.
            for await state in states.dropFirst() {
                tell(.state(state))
                if state == .idle { break }
                if case .error = state { break }
            }
            group.cancelAll()
        }
        await localizer.stop()
    }
}
