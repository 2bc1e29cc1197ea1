import BeaconScanning
import IndoorVocabulary
import VenueModel

/// The plan of one floor of a venue, for a ``FloorPlanLocalizer``.
public struct FloorPlan: Hashable, Sendable {
    /// The identifier of the floor's venue.
    public var venueID: VenueID
    /// The map with its coordinate frames.
    public var map: VenueMap

    /// Creates a floor plan.
    package init(venueID: VenueID, map: VenueMap) {
        self.venueID = venueID
        self.map = map
    }

    /// The map's number within the venue.
    public var mapID: MapID { map.id }
    /// The display name.
    public var name: String { map.name }

    /// The coordinate of the plan's centre; nil without a complete georeference.
    public var coordinate: Coordinate? {
        guard let transform = try? map.geoTransform() else { return nil }
        return transform.coordinate(at: MapPoint(x: map.width / 2, y: map.height / 2))
    }

    /// The coordinates of the plan's corners: top left, top right, bottom right, bottom left.
    ///
    /// Nil without a complete georeference.
    public var corners: [Coordinate]? {
        guard let transform = try? map.geoTransform() else { return nil }
        return [(0.0, 0.0), (map.width, 0), (map.width, map.height), (0, map.height)].map { x, y in
            transform.coordinate(at: MapPoint(x: x, y: y))
        }
    }

    /// The direction of the plan's left side, from bottom to top, in degrees clockwise from true north, in [0, 360).
    ///
    /// Nil without a complete georeference.
    public var bearing: Double? { (try? map.geoTransform())?.bearing }
}

extension Venue {
    /// Returns the plan of one floor; nil if the venue has no such map.
    public func floorPlan(_ map: MapID) -> FloorPlan? {
        self.map(map).map { FloorPlan(venueID: id, map: $0) }
    }
}

/// The reason for the failed fetch of a floor plan or its image.
public enum FloorPlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The caller cancelled the fetch.
    case cancelled
    /// The venue has no such map.
    case unknownMap(MapID, VenueID)
    /// The map has no image, or the image has no path because its packet isn't unpacked.
    case noImage(MapID)
    /// The venue source or the image reader failed.
    case failed(LocalizationError)

    public var description: String {
        switch self {
        case .cancelled: "the fetch was cancelled"
        case .unknownMap(let map, let venue): "venue \(venue) has no map \(map); ask for one of its maps"
        case .noImage(let map):
            "map \(map) has no image with a path; add one to the packet, or unpack the packet to a folder"
        case .failed(let error): "\(error)"
        }
    }
}

/// A reader of plan images from a file system or a server.
public protocol PlanImageReader: Sendable {
    /// Returns the bytes of the image at a path of a venue source.
    ///
    /// - Parameters:
    ///   - path: the path of the image.
    ///   - progress: receives the fraction that has been read, from 0 to 1, never decreasing.
    /// - Throws: the error that made the image unreadable; `CancellationError` if the task is cancelled.
    func image(at path: String, progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8]
}

extension FloorPlanError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch self {
        case .cancelled: .cancelled
        case .unknownMap: .mapNotFound
        case .noImage: .contentUnavailable
        case .failed(let error): error.kind
        }
    }

    public var status: LocalizationError.Status? {
        if case .failed(let error) = self { error.status } else { nil }
    }
}

extension SharedScanSource {
    /// Submits a coordinate on a floor plan to all readers.
    ///
    /// - Parameters:
    ///   - coordinate: the position of the device.
    ///   - plan: the floor plan, which must have a georeference.
    ///   - radius: 68 % radius in metres; 3 m is a good value.
    ///   - isSoft: `true` combines the coordinate with the other evidence of the session; `false` replaces that
    ///     evidence.
    /// - Returns: the number of readers that received the coordinate.
    /// - Throws: `FixError` if the coordinate or the radius is invalid, or if the coordinate is off the plan by more
    ///   than 50 m plus the radius.
    @discardableResult public func submit(
        _ coordinate: Coordinate, on plan: FloorPlan, radius: Double, isSoft: Bool = false
    ) throws(FixError) -> Int {
        let fix = try plan.map.fix(at: .coordinate(coordinate), radius: radius, isSoft: isSoft)
        if let problem = fix.problem(on: plan.map) { throw problem }
        return submit(fix)
    }
}
