import IndoorLocalization
import TagTracking

/// A generated building with receivers in a regular grid, for a measurement of the load.
enum LoadVenue {
    /// The distance between two receivers in metres.
    private static let spacing = 10.0
    /// The largest number of receivers on a floor: five rows of ten.
    private static let most = 50
    private static let columns = 10

    /// The range in metres within which receivers receive a tag. With the losses of the radio channel, about four
    /// receivers receive each advertisement.
    static let range = 14.0

    /// Creates a building with as few floors as possible, of equal size, 100 × 50 m or less.
    static func venue(receivers: Int) -> Venue {
        let floors = (receivers + most - 1) / most
        let perFloor = (receivers + floors - 1) / floors
        let columns = min(columns, perFloor)
        let rows = (perFloor + columns - 1) / columns
        let maps = (0..<floors).map { floor in
            VenueMap(
                id: MapID(rawValue: floor + 1), name: "Floor \(floor)", level: floor,
                width: spacing * Double(columns), height: spacing * Double(rows))
        }
        let list = (0..<receivers).map { index in
            let place = index % perFloor
            return VenueReceiver(
                id: name(of: index),
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 0, minor: UInt16(index)),
                mapID: MapID(rawValue: index / perFloor + 1),
                point: MapPoint(
                    x: spacing * (Double(place % columns) + 0.5), y: spacing * (Double(place / columns) + 0.5)))
        }
        return Venue(id: 1, name: "Load", maps: maps, receivers: list)
    }

    /// The name of a receiver: the address by which its messages name it.
    private static func name(of index: Int) -> String {
        DeviceAddress(rawValue: 0xC000_0000_0000 | UInt64(index)).description
    }
}
