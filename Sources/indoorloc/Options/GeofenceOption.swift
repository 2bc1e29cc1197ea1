import IndoorLocalization
import VenuePackets

extension CommandOption {
    static let geofences = CommandOption(
        name: "geofences", argument: "FILE",
        help: "GeoJSON file with geofences to monitor, in addition to the packet's fences")
}

extension ParsedArguments {
    /// The geofences to monitor; nil if the option was not given.
    ///
    /// - Throws: `GeofenceFileError`, or `UsageError` if the path is empty.
    func geofences() throws -> GeofenceOption? {
        guard let file = value("geofences") else { return nil }
        guard !file.isEmpty else {
            throw UsageError(message: "--geofences must be the path of a GeoJSON file, not ''", command: syntax.name)
        }
        let path = try InputFile.keeping(file)
        return GeofenceOption(file: path, fences: try GeofenceFile.read(path))
    }
}

/// The geofences of a file.
struct GeofenceOption: Sendable {
    /// The path, as given on the command line.
    let file: String
    /// The file's geofences.
    let fences: [Geofence]

    /// Warns on standard error of geofences that can't be entered because they lie outside the venues' plans.
    func warn(of venues: [Venue]) {
        for remark in remarks(on: venues) { StandardError.line("\(file): \(remark)") }
    }

    /// A remark for each geofence that can't be entered, with the reason.
    func remarks(on venues: [Venue]) -> [String] {
        fences.compactMap { fence in reason(fence, venues).map { "geofence \"\(fence.id)\" can't be entered: \($0)" } }
    }

    private func reason(_ fence: Geofence, _ venues: [Venue]) -> String? {
        let own = venues.filter { fence.venueID == nil || fence.venueID == $0.id }
        guard !own.isEmpty else { return "unknown venue \(fence.venueID.map(String.init(describing:)) ?? "")" }
        let maps = own.flatMap { venue in
            venue.maps.filter { fence.mapID ?? $0.id == $0.id && fence.level ?? $0.level == $0.level }
                .map { (venue.id, $0) }
        }
        guard !maps.isEmpty else { return "no map has its mapId and level" }
        let areas = maps.compactMap { venue, map in
            fence.area(on: map, of: venue, try? map.geoTransform()).map { (map, $0) }
        }
        guard !areas.isEmpty else {
            return "its map has no georeference; add a center and bearing, or controlPoints, to venue.json"
        }
        guard !areas.contains(where: { map, area in area.touches(map) }) else { return nil }
        return "it lies outside the plan; coordinates must be [longitude, latitude]"
    }
}
