import IndoorVocabulary

/// The parameters of the measurement model of distances to anchors.
///
/// <doc:Ranges> describes the model and the sources of the defaults.
public struct RangeModel: Hashable, Sendable {
    /// The errors of ultra-wideband ranging.
    package var uwb = Expert.uwb
    /// The errors of the fine timing measurement of Wi-Fi.
    package var wifi = Expert.wifi
    /// The errors of Bluetooth Channel Sounding and other phase-based methods with Bluetooth LE.
    package var ble = Expert.ble
    /// The errors of all other technologies.
    package var other = Expert.other
    /// The probability that a distance belongs to a reflected path, in [0, 1].
    package var excessShare = Expert.excessShare
    /// The probability of measuring a distance through one floor, divided by the probability without a floor, in
    /// [0.001, 1].
    package var floorShare = Expert.floorShare
    /// The expected height of the device above the floor in metres, in [-100, 100].
    public var deviceHeight = 1.2
    /// The standard deviation of that height in metres, in [0, 100]; 0 for a known height.
    public var deviceHeightDeviation = 1.0
    /// The minimum radius in metres while distances are measured, in [0, 1000]. `PositioningSettings.radiusFloor`
    /// applies if it is smaller.
    package var radiusFloor = Expert.radiusFloor

    /// Creates the model with its defaults.
    public init() {}

    /// The number of technologies with their own errors, counting all others as one.
    static let technologies = 4

    /// Returns the number of a technology, from 0.
    static func number(of technology: RangeTechnology) -> Int {
        switch technology {
        case .uwb: 0
        case .wifi: 1
        case .ble: 2
        default: 3
        }
    }

    /// Returns the errors of the technology with a number.
    func errors(ofTechnology number: Int) -> RangeErrors {
        switch number {
        case 0: uwb
        case 1: wifi
        case 2: ble
        default: other
        }
    }
}

extension RangeModel {
    /// The settings of the measurement model of distances.
    package static let list: [Setting<RangeModel>] = {
        var list = publicList + expertList
        list += RangeErrors.list.map { $0.within("uwb", \.uwb) }
        list += RangeErrors.list.map { $0.within("wifi", \.wifi) }
        list += RangeErrors.list.map { $0.within("ble", \.ble) }
        list += RangeErrors.list.map { $0.within("other", \.other) }
        return list
    }()

    private static let publicList: [Setting<RangeModel>] = [
        .number(
            "deviceHeight", \.deviceHeight, in: -100...100, unit: "m",
            "The usual height of the device above the floor."),
        .number(
            "deviceHeightDeviation", \.deviceHeightDeviation, in: 0...100, unit: "m",
            "The standard deviation of that height; 0 for a known height."),
    ]
}
