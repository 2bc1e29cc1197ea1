import IndoorLocalization
import VenuePackets

extension CommandOption {
    static let geofences = CommandOption(
        name: "geofences", argument: "FILE", help: "GeoJSON with fences to watch beside the packet's")
}

extension ParsedArguments {
    /// The geofences that are to be watched; nil for none.
    ///
    /// - Throws: `GeofenceFileError`, or `UsageError` if the file has no name.
    func geofences() throws -> GeofenceOption? {
        guard let file = value("geofences") else { return nil }
        guard !file.isEmpty else {
            throw UsageError(message: "--geofences must be a GeoJSON file, not ''", command: syntax.name)
        }
        let path = try InputFile.keeping(file)
        return GeofenceOption(file: path, fences: try GeofenceFile.read(path))
    }
}

/// Geofences of a file.
struct GeofenceOption: Sendable {
    /// The file, as it was named.
    let file: String
    /// What it holds.
    let fences: [Geofence]

    /// Tells on standard error which geofences can never be entered, as they lie on no plan of the venues.
    func warn(of venues: [Venue]) {
        for remark in remarks(on: venues) { StandardError.line("\(file): \(remark)") }
    }

    /// Which geofences can never be entered, and why.
    func remarks(on venues: [Venue]) -> [String] {
        fences.compactMap { fence in reason(fence, venues).map { "geofence \"\(fence.id)\" is never entered: \($0)" } }
    }

    private func reason(_ fence: Geofence, _ venues: [Venue]) -> String? {
        let own = venues.filter { fence.venueID == nil || fence.venueID == $0.id }
        guard !own.isEmpty else { return "there is no venue \(fence.venueID.map(String.init(describing:)) ?? "")" }
        let maps = own.flatMap { venue in
            venue.maps.filter { fence.mapID ?? $0.id == $0.id && fence.level ?? $0.level == $0.level }
                .map { (venue.id, $0) }
        }
        guard !maps.isEmpty else { return "no map has its mapId and its level" }
        let areas = maps.compactMap { venue, map in
            fence.area(on: map, of: venue, try? map.geoTransform()).map { (map, $0) }
        }
        guard !areas.isEmpty else {
            return "its map has no georeference; give a center and bearing, or controlPoints, in venue.json"
        }
        guard !areas.contains(where: { map, area in area.touches(map) }) else { return nil }
        return "it lies outside of the plan; coordinates are [longitude, latitude]"
    }
}
