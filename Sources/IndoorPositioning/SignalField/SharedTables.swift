import IndoorVocabulary
import VenueModel

/// A store of positioning tables that several sessions share.
///
/// A session builds only the tables that it needs: those of the possible floors and the detected beacons. Sessions that
/// share a store build and hold each table once. Sharing doesn't affect positions.
public final class SharedTables: Sendable {
    private struct Entry: Sendable {
        var venue: Venue
        var model: SignalModel
        var cellScale: Double
        var field: SignalField
    }

    /// The tables by venue; the most recently requested venue is the last element.
    private let entries = Guarded<[Entry]>([])
    private let capacity: Int

    /// Creates an empty store.
    ///
    /// - Parameter venueCount: the number of venues whose tables the store holds, at least 1. Beyond that number, the
    ///   store discards the least recently requested venue. A venue can occupy about 70 MB.
    public init(venueCount: Int = 4) { capacity = max(1, venueCount) }

    /// Returns the tables of a venue with these settings; calls with equal values return the same tables.
    ///
    /// - Parameter cellScale: the factor on the edge of the cells, at least 1.
    package func field(of venue: Venue, model: SignalModel, cellScale: Double = 1) -> SignalField {
        entries.withLock { entries in
            let known = entries.firstIndex {
                $0.venue.id == venue.id && $0.model == model && $0.cellScale == cellScale && $0.venue == venue
            }
            let entry =
                known.map { entries.remove(at: $0) }
                ?? Entry(
                    venue: venue, model: model, cellScale: cellScale,
                    field: SignalField(venue: venue, model: model, cellScale: cellScale))
            if entries.count >= capacity { entries.removeFirst() }
            entries.append(entry)
            return entry.field
        }
    }
}
