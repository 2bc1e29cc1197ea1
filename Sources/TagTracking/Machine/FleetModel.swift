import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// The parts that all machines of a fleet share: the venue, the settings, the receivers and the tables of the engine.
///
/// The tables of a venue occupy tens of megabytes. A process with several partitions creates one model.
public struct FleetModel: Sendable {
    /// The venue, with its receivers.
    public let venue: Venue
    /// The settings of the fleet.
    public let settings: FleetSettings

    /// The names of the receivers.
    let directory: ReceiverDirectory
    /// The models of the classes, in the order of their names.
    let classes: [TagModel]
    private let classIndexes: [String: Int]

    /// Creates a model. The class `standard` replaces a missing default class.
    ///
    /// - Parameter venue: the venue, with its receivers.
    public init(venue: Venue, settings: FleetSettings = FleetSettings()) {
        self.venue = venue
        var settings = settings
        if settings.classes[settings.defaultClass] == nil { settings.classes[settings.defaultClass] = .standard }
        self.settings = settings
        directory = ReceiverDirectory(venue.receivers)
        let names = settings.classes.keys.sorted()
        classIndexes = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
        let (forTags, tables) = (venue.forTags, SharedTables(venueCount: names.count + 1))
        classes = names.compactMap { settings.classes[$0] }
            .map { TagModel(venue: forTags, tagClass: $0, tables: tables) }
    }

    /// Returns the index of a class; that of the default class for nil and for unknown names.
    func classIndex(of name: String?) -> Int {
        name.flatMap { classIndexes[$0] } ?? classIndexes[settings.defaultClass] ?? 0
    }

    /// Returns the RSSI in dBm that a receiver measures on average from a common tag at a point; nil where the signal
    /// field predicts no reception.
    func commonRSSI(of receiver: Int, at point: MapPoint, on map: MapID, tagClass: Int = 0) -> Double? {
        // The engine of a model has no evidence, so its estimate of the tag's power is that of a common tag.
        classes[tagClass].engine.expectedRSSI(of: venue.receivers[receiver].identity, at: point, on: map)?.mean
    }
}
