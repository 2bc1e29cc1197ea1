/// The number that identifies a venue in its packet.
public struct VenueID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }
    public var description: String { String(rawValue) }
    public static func < (left: VenueID, right: VenueID) -> Bool { left.rawValue < right.rawValue }
}

/// The number that identifies a map, the plan of one floor, within its venue.
public struct MapID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral,
    CustomStringConvertible
{
    public var rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public init(integerLiteral value: Int) { rawValue = value }
    public var description: String { String(rawValue) }
    public static func < (left: MapID, right: MapID) -> Bool { left.rawValue < right.rawValue }
}
