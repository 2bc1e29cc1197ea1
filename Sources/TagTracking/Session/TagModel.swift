import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// What the sessions of all tags of a class share: the venue, the tables of the engine, and an engine without evidence.
struct TagModel: Sendable {
    let venue: Venue
    let tagClass: FleetSettings.TagClass
    let engine: PositioningEngine

    /// Creates a model.
    ///
    /// - Parameter venue: the venue, whose beacons are the receivers, see ``Venue/forTags``.
    init(venue: Venue, tagClass: FleetSettings.TagClass, tables: SharedTables) {
        self.venue = venue
        self.tagClass = tagClass
        var settings = PositioningSettings()
        settings.particleCount = tagClass.particleCount
        engine = PositioningEngine(venue: venue, tables: tables, settings: settings, seed: 0)
    }
}
