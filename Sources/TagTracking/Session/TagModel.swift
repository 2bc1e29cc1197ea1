import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// The parts that the sessions of all tags of a class share: the venue, the tables of the engine, and an engine, a
/// floor machine and area machines without evidence.
///
/// A session begins with copies of them. Copies share the memory that no session changes: the signal field, the walls,
/// the links between floors, and the areas of rooms and fences.
package final class TagModel: Sendable {
    package let venue: Venue
    package let tagClass: FleetSettings.TagClass
    let engine: PositioningEngine
    let floor: FloorMachine
    let rooms: AreaMachine
    let fences: AreaMachine
    /// The RSSI in dBm below which readings are discarded.
    let rssiThreshold: Double
    /// Whether the power of the tag that the signal field assumes is known, from a survey or from the receivers.
    let isPowerKnown: Bool

    /// The number of particles for which the engine's minimum on each map is chosen.
    private static let standardCount = 1500.0
    /// The lowest minimum of particles on a map.
    private static let fewest = 20

    /// Creates a model.
    ///
    /// - Parameter venue: the venue, whose beacons are the receivers, see `Venue.forTags`.
    package init(venue: Venue, tagClass: FleetSettings.TagClass, tables: SharedTables) {
        self.venue = venue
        self.tagClass = tagClass
        let settings = SettingsStack().resolved(in: venue).localization
        var positioning = settings.positioning
        positioning.particleCount = tagClass.particleCount
        engine = PositioningEngine(
            venue: venue, tables: tables, settings: positioning, effort: Self.effort(of: tagClass), seed: 0)
        rssiThreshold = settings.rssiThreshold
        floor = FloorMachine(settings: settings.floor)
        rooms = AreaMachine(roomsOf: venue, settings: settings)
        fences = AreaMachine(fencesOf: venue, settings: settings)
        isPowerKnown = venue.radioMap != nil || venue.beacons.contains { $0.measuredPower != nil }
    }

    private static func effort(of tagClass: FleetSettings.TagClass) -> PositioningEffort {
        var effort = PositioningEffort()
        // A map that the tag is hardly on has the same share of the particles in each class.
        let share = min(1, Double(tagClass.particleCount) / standardCount)
        effort.fewestParticles = max(fewest, Int((Double(effort.fewestParticles) * share).rounded()))
        effort.cellScale = max(1, tagClass.cellScale)
        effort.needsNewEvidence = true
        effort.testsBeacons = tagClass.cellScale <= 1
        return effort
    }
}
