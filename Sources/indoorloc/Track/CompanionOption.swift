import IndoorLocalization
import TagTracking
import TagTrackingService
import VenueExchange
import VenuePackets

extension CompanionHouse {
    /// Reads the devices and the coordinates of a configuration of ESPresense-companion.
    ///
    /// - Parameter venue: the venue of the fleet, which `venue import` created from the configuration. That of trained rooms
    ///   has no maps.
    /// - Throws: `CommandError` if the file can't be used.
    init(configuration path: String, _ venue: Venue) throws(CommandError) {
        let house: CompanionImport
        do throws(CompanionError) { house = try CompanionImporter(name: venue.name).read(path) } catch {
            throw CommandError(description: "--espresense-companion: \(error)")
        }
        var devices: [(tag: TagKey, device: Device)] = []
        for device in house.devices {
            guard let tag = TagNaming.key(of: device.key) else { continue }
            devices.append((tag, Device(id: device.key, name: device.name)))
        }
        var floors: [MapID: Floor] = [:]
        for map in venue.maps {
            let height = house.baseHeight.map { $0 + (map.elevation ?? 0) }
            floors[map.id] = Floor(name: map.name, height: height)
        }
        let frame = house.frame
        self.init(
            devices: devices, floors: floors, origin: frame.origin, flipsX: frame.flipsX, flipsY: frame.flipsY)
        let known = Set(venue.maps.map(\.id))
        if !known.isEmpty, !house.venue.maps.contains(where: { known.contains($0.id) }) {
            StandardError.line(
                PrintableText.line(
                    "--espresense-companion \(path): no floor of it is a map of \(venue.name); make the venue with 'venue "
                        + "import', so that the coordinates agree"), .warning)
        }
    }
}
