/// The feature types of the Indoor Mapping Data Format 1.0 (OGC 20-094), each with its own file.
enum IMDFFeatureType: String, CaseIterable, Hashable, Sendable {
    case address, amenity, anchor, building, detail, fixture, footprint, geofence, kiosk, level, occupant, opening
    case relationship, section, unit, venue

    /// The file within the archive.
    var file: String { rawValue + ".geojson" }

    /// The types that an import requires.
    static let required: [IMDFFeatureType] = [.venue, .level]

    /// The geometry that the standard requires.
    var geometry: IMDFGeometryRule {
        switch self {
        case .address, .building, .occupant: .none
        case .amenity, .anchor: .point
        case .detail, .opening: .line
        case .relationship: .anything
        case .fixture, .footprint, .geofence, .kiosk, .level, .section, .unit, .venue: .polygon
        }
    }

    /// The properties that refer to other features, with their types.
    var references: [IMDFReference] {
        let address = IMDFReference("address_id", to: .address)
        let level = IMDFReference("level_id", to: .level, isRequired: true)
        let anchor = IMDFReference("anchor_id", to: .anchor)
        switch self {
        case .address, .relationship: return []
        case .amenity: return [IMDFReference("unit_ids", to: .unit, isList: true), address]
        case .anchor: return [IMDFReference("unit_id", to: .unit, isRequired: true), address]
        case .building, .venue: return [address]
        case .detail, .opening, .unit: return [level]
        case .fixture, .kiosk: return [level, anchor]
        case .footprint: return [IMDFReference("building_ids", to: .building, isList: true)]
        case .geofence:
            return [
                IMDFReference("level_ids", to: .level, isList: true),
                IMDFReference("building_ids", to: .building, isList: true),
                IMDFReference("parents", to: .geofence, isList: true),
            ]
        case .level: return [IMDFReference("building_ids", to: .building, isList: true), address]
        case .occupant: return [IMDFReference("anchor_id", to: .anchor, isRequired: true)]
        case .section:
            return [level, address, IMDFReference("parents", to: .section, isList: true)]
        }
    }
}

/// A property that contains the id of another feature.
struct IMDFReference: Hashable, Sendable {
    let key: String
    let target: IMDFFeatureType
    let isRequired: Bool
    /// Whether it contains a list of ids.
    let isList: Bool

    init(_ key: String, to target: IMDFFeatureType, isRequired: Bool = false, isList: Bool = false) {
        self.key = key
        self.target = target
        self.isRequired = isRequired
        self.isList = isList
    }
}

/// The geometries that a feature type allows.
enum IMDFGeometryRule: Hashable, Sendable {
    /// Null only.
    case none
    /// A Point.
    case point
    /// A LineString or a MultiLineString.
    case line
    /// A Polygon or a MultiPolygon.
    case polygon
    /// Any geometry or null.
    case anything

    /// The expected geometry, as a message names it.
    var wanted: String {
        switch self {
        case .none: "null"
        case .point: "a Point"
        case .line: "a LineString"
        case .polygon: "a Polygon or a MultiPolygon"
        case .anything: "a geometry or null"
        }
    }

    /// Returns whether the rule allows a geometry.
    func accepts(_ geometry: GeoJSONGeometry) -> Bool {
        switch (geometry, self) {
        case (.point, .point), (.lines, .line), (.polygons, .polygon), (_, .anything): true
        default: false
        }
    }
}

/// The boundary and walkability of a unit, derived from its category.
enum IMDFSpace: Hashable, Sendable {
    /// A separate space, such as a room, a shop or a stairwell, which people enter through openings.
    case enclosed
    /// A part of a larger space, such as a walkway: its boundary with similar units is only a line on the plan.
    case open
    /// Solid matter, which is not walkable.
    case solid
    /// A space without a walkable floor.
    case void

    /// Whether people can walk there.
    var isWalkable: Bool { self == .enclosed || self == .open }

    /// Creates the space of a UNIT-CATEGORY; an unknown category is enclosed, as most categories are.
    init(category: String) {
        // A category may have a suffix after a dot: "walkway.island".
        switch category.prefix(while: { $0 != "." }) {
        case "brick", "column", "concrete", "drywall", "glass", "structure", "wood": self = .solid
        case "opentobelow", "vegetation": self = .void
        case "fieldofplay", "footbridge", "lobby", "movingwalkway", "parking", "platform", "ramp", "road", "steps",
            "terrace", "unenclosedarea", "unspecified", "walkway":
            self = .open
        default: self = .enclosed
        }
    }

    /// Returns whether people cannot walk through a fixture of this category; other fixtures are movable furniture.
    static func isObstacle(fixture category: String) -> Bool {
        ["obstruction", "vegetation", "wall", "water"].contains(category)
    }
}
