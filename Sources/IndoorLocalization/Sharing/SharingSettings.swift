/// What settings say of sharing; nil leaves it to the program.
public struct SharingSettings: Hashable, Sendable {
    /// Where the broker is, as `mqtt[s]://[USER@]HOST[:PORT]`: of the command line, where no `--share` is given.
    public var host: String?
    /// The room to be in: beside those of a ``PositionSharingPlugin``, and of the command line together with `host`.
    public var room: String?
    /// Time between two positions that a ``PositionSharingPlugin`` hands over, from 0 s to a day; 0 hands over all.
    public var interval: Duration?

    /// Creates settings that leave all to the program.
    public init() {}
}
