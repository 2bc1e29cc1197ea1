import IndoorLocalization

/// The rooms that a visitor entered, and whether the visitor is in the building.
///
/// The app gets its source, its venues and its clock from outside, so that a test can give it others.
public actor Attendance {
    private let localizer: Localizer
    /// The names of the rooms in the order of the visits.
    public private(set) var rooms: [String] = []
    /// Whether the visitor is in a venue.
    public private(set) var isPresent = false
    /// Whether the visitor can be found, because the session knows its venues.
    public private(set) var isReady = false

    /// Creates an attendance list for one visitor.
    public init(
        source: some ScanSource, venues: some VenueSource, clock: some Clock<Duration> = ContinuousClock()
    ) {
        localizer = Localizer(source: source, venues: venues, clock: clock)
    }

    /// Follows the visitor until the source ends.
    public func run() async throws {
        let outputs = localizer.outputs
        await localizer.start()
        for await output in outputs {
            switch output.content {
            case .event(let event):
                if case .enterRoom(let room) = event.kind { rooms.append(room.name) }
            case .state(.localizationRunning): isPresent = true
            case .state(.searchVenue): (isReady, isPresent) = (true, false)
            case .state(.error(let error)): throw error
            case .state(.idle): return
            default: break
            }
        }
    }
}
