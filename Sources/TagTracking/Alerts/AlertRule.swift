import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A rule by which tags raise alerts.
package struct AlertRule: Hashable, Sendable {
    /// The condition of a rule.
    package enum Condition: String, Hashable, Sendable, CaseIterable {
        /// The tag is in the area.
        case enters
        /// The tag was in the area, and isn't any more.
        case leaves
        /// No receiver hears the tag.
        case silent
        /// The battery of the tag is below a level.
        case batteryLow
    }

    /// A part of a rule that selects tags.
    package enum Selector: Hashable, Sendable {
        /// The tags whose names in the register begin with a text; the empty text selects the whole register, or each
        /// tag without a register.
        case beginning(String)
        /// The tags with a name or an alias of the register, or a key.
        case named(String)
    }

    /// The limits of a level of a battery. An unknown level raises no alert.
    package struct BatteryLimits: Hashable, Sendable {
        /// The level in percent below which the battery is low; nil without a limit.
        package var percent: Double?
        /// The voltage in volts below which the battery is low; nil without a limit.
        package var volts: Double?

        /// Creates limits.
        package init(percent: Double? = nil, volts: Double? = nil) { (self.percent, self.volts) = (percent, volts) }
    }

    /// The name, which is unique among the rules.
    package var name: String
    /// The condition.
    package var condition: Condition
    /// The area of ``Condition/enters`` and ``Condition/leaves``.
    package var area: AlertArea?
    /// The tags of the rule: those that any of these selects.
    package var tags: [Selector]
    /// The time for which a tag must be inside or outside of the area, from 0 s to a day.
    package var dwell = AlertRule.standardDwell
    /// The silence that raises an alert, from 1 s to 365 days.
    package var silence = Duration.zero
    /// The limits of the battery.
    package var battery = BatteryLimits()
    /// The time after which an alert that lasts is repeated, from 1 s to 365 days; nil for never.
    package var repetition: Duration?

    /// The time for which a tag must be inside or outside of an area by default. Positions near a wall change sides more
    /// often.
    package static let standardDwell = Duration.seconds(10)

    /// Creates a rule.
    package init(name: String, condition: Condition, area: AlertArea? = nil, tags: [Selector]) {
        self.name = name
        self.condition = condition
        self.area = area
        self.tags = tags
    }

    /// The text that identifies the rule after a restart or a change of the file: a rule with another condition or
    /// another area is another one.
    var signature: String { "\(condition.rawValue)\u{1F}\(area?.text ?? "")\u{1F}\(name)" }

    /// Returns whether the rule selects a tag.
    ///
    /// - Parameter entry: the entry of the tag in the register; nil for a tag outside of it.
    func selects(_ tag: TagKey, _ entry: TagRegister.Entry?, hasRegister: Bool) -> Bool {
        tags.contains { selector in
            switch selector {
            case .beginning(""): entry != nil || !hasRegister
            case .beginning(let text): entry?.name?.hasPrefix(text) ?? false
            case .named(let text):
                if let entry, entry.name == text {
                    true
                } else {
                    TagNaming.key(of: text).map { $0 == tag || entry?.aliases.contains($0) == true } ?? false
                }
            }
        }
    }
}

/// An area of a venue: a room, a fence or a map.
package struct AlertArea: Hashable, Sendable {
    /// The kinds of areas.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case room
        case fence
        case map
    }

    private struct Part: Hashable, Sendable {
        var mapID: MapID
        /// The shape; nil for a whole map, and for a room without a shape.
        var shape: Area?
        /// The label of positions in a room without a shape.
        var label: String?
    }

    /// The kind.
    package let kind: Kind
    /// The name in the venue.
    package let name: String
    /// The name of the map to which a room or a fence is limited; nil for all maps.
    package let map: String?
    private let parts: [Part]

    /// Creates an area with a name of a venue. Several rooms or fences with the same name are one area.
    ///
    /// - Parameter map: the name of the map of the room or the fence; nil for all maps.
    /// - Throws: ``Unknown`` if the venue has no such area.
    package init(_ kind: Kind, _ name: String, on map: String? = nil, of venue: Venue) throws(Unknown) {
        let maps = venue.maps.filter { map == nil || $0.name == map }
        if let map, maps.isEmpty { throw Unknown(kind: .map, name: map, known: venue.maps.map(\.name)) }
        let ids = Set(maps.map(\.id))
        let known: [String]
        switch kind {
        case .room:
            // Trained rooms are on no map.
            let rooms = venue.rooms.filter { map == nil || ids.contains($0.mapID) }
            known = rooms.map(\.name)
            parts = rooms.filter { $0.name == name }.map {
                Part(mapID: $0.mapID, shape: $0.area, label: $0.area == nil ? $0.name : nil)
            }
        case .fence:
            let fences = venue.fences.filter { ids.contains($0.mapID) }
            known = fences.map(\.name)
            parts = fences.filter { $0.name == name }.map { Part(mapID: $0.mapID, shape: $0.area) }
        case .map:
            known = maps.map(\.name)
            parts = maps.filter { $0.name == name }.map { Part(mapID: $0.id) }
        }
        guard !parts.isEmpty else { throw Unknown(kind: kind, name: name, known: known) }
        (self.kind, self.name, self.map) = (kind, name, map)
    }

    /// Returns whether a trained room is the area.
    package func contains(_ room: TagRoom) -> Bool {
        room.label.map { label in parts.contains { $0.mapID == TagRoom.mapID && $0.label == label } } ?? false
    }

    /// The kind and the name, such as `room Kitchen`.
    var text: String { "\(kind.rawValue) \(name)" + (map.map { " on \($0)" } ?? "") }

    /// Returns whether a position is in the area.
    package func contains(_ position: Position) -> Bool {
        parts.contains { part in
            guard part.mapID == position.mapID else { return false }
            if let shape = part.shape { return shape.contains(position.point) }
            return part.label.map { $0 == position.label } ?? true
        }
    }

    /// The reason why a venue has no such area.
    package struct Unknown: Error, Hashable, Sendable, CustomStringConvertible {
        /// The kind of the area.
        package var kind: Kind
        /// The name that the venue doesn't have.
        package var name: String
        /// The names of the venue.
        package var known: [String]

        package var description: String {
            let proposal =
                EditDistance.nearestWord(to: name, among: known).map { "; did you mean '\($0)'?" }
                ?? (known.isEmpty ? ", which has none" : "; use one of: \(Self.list(known))")
            return "the venue has no \(kind.rawValue) '\(name.prefix(60))'\(proposal)"
        }

        private static func list(_ names: [String]) -> String {
            let unique = Set(names).sorted()
            return unique.prefix(8).joined(separator: ", ") + (unique.count > 8 ? ", …" : "")
        }
    }
}
