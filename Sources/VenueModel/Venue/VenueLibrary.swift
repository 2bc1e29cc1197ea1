import IndoorVocabulary

/// A venue source with packets in memory.
public struct VenueLibrary: VenueSource, Hashable {
    /// The venues, in the order of the catalogue.
    public let venues: [Venue]

    /// Creates a source of venues. If several have the same ID, the source uses the first.
    public init(_ venues: [Venue]) {
        var known: Set<VenueID> = []
        self.venues = venues.filter { known.insert($0.id).inserted }
    }

    public func catalogue() -> [VenueSummary] { venues.map(VenueSummary.init(of:)) }

    /// Returns the packet of a venue immediately.
    ///
    /// - Throws: `LocalizationError` with code `generic` if there is no such venue.
    public func packet(
        for id: VenueID, progress: @escaping @Sendable (Double) -> Void
    ) throws(LocalizationError) -> Venue {
        guard let venue = venues.first(where: { $0.id == id }) else {
            throw LocalizationError(
                code: .generic, message: "there is no packet of venue \(id); add it to the source's venues",
                kind: .contentUnavailable)
        }
        progress(1)
        return venue
    }
}
