import IndoorVocabulary
import VenueModel

/// The tables that positioning makes of venues, for all sessions of a program that are given the same object.
///
/// A session makes tables where it needs them: of the floors in question and the beacons that it hears. Sessions that
/// share them make each once, and hold it once. Positions do not depend on who else shares them.
public final class SharedTables: Sendable {
    private struct Entry: Sendable {
        var venue: Venue
        var model: SignalModel
        var field: SignalField
    }

    /// The venue that was asked for last comes last.
    private let entries = Guarded<[Entry]>([])
    private let capacity: Int

    /// Creates an object without tables.
    ///
    /// - Parameter venueCount: how many venues' tables it holds, at least 1; of more, those that were asked for last. Each may
    ///   take some 70 MB.
    public init(venueCount: Int = 4) { capacity = max(1, venueCount) }

    /// The tables of a venue with these settings, the same ones for each call with equal values.
    func field(of venue: Venue, model: SignalModel) -> SignalField {
        entries.withLock { entries in
            let known = entries.firstIndex { $0.venue.id == venue.id && $0.model == model && $0.venue == venue }
            let entry =
                known.map { entries.remove(at: $0) }
                ?? Entry(venue: venue, model: model, field: SignalField(venue: venue, model: model))
            if entries.count >= capacity { entries.removeFirst() }
            entries.append(entry)
            return entry.field
        }
    }
}
