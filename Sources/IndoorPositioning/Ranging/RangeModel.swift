import CMath
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

/// The errors of distances that a technology measures.
package struct RangeErrors: Hashable, Sendable {
    /// The standard deviation of a distance along a free path in metres, unless the reading states it, in [0.001, 1000].
    package var deviation: Double
    /// The standard deviation in metres of the offset that the device adds to all distances, in [0, 1000].
    package var offsetDeviation: Double
    /// The mean excess of a distance along a reflected path in metres, in [0.001, 1000].
    package var excess: Double
    /// The time in seconds within which distances to one anchor share their errors, in [0.001, 1e9].
    package var correlationTime: Double

    /// Creates errors.
    package init(deviation: Double, offsetDeviation: Double, excess: Double, correlationTime: Double) {
        self.deviation = deviation
        self.offsetDeviation = offsetDeviation
        self.excess = excess
        self.correlationTime = correlationTime
    }
}

extension RangeErrors {
    /// The settings of the errors, all of them expert settings.
    package static let list: [Setting<RangeErrors>] = [
        .number(
            "deviation", \.deviation, in: 0.001...1000, unit: "m",
            "The standard deviation of a distance along a free path, unless the reading states it."
        ).expert(.publications),
        .number(
            "offsetDeviation", \.offsetDeviation, in: 0...1000, unit: "m",
            "The standard deviation of the offset that the device adds to all distances."
        ).expert(.publications),
        .number(
            "excess", \.excess, in: 0.001...1000, unit: "m",
            "The mean excess of a distance along a reflected path."
        ).expert(.publications),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "The time within which distances to one anchor share their errors."
        ).expert(.publications),
    ]
}

/// The probability density of the error of a distance.
///
/// With a share of `1 - excessShare`, the error is normal. With `excessShare`, the direct path is blocked, and the
/// error is the excess length of a reflection. Within one building, the excess is exponential, but its mean differs
/// greatly between buildings. A mean with an inverse gamma distribution gives a Lomax distribution, here with the
/// exponent 2: long reflections are more probable than with a known mean. One reading in a thousand is assumed to be
/// arbitrary, so that no single reading excludes a place. Sources: D. B. Jourdan, D. Dardari, M. Z. Win, *Position
/// Error Bound for UWB Localization in Dense Cluttered Environments*, IEEE Transactions on Aerospace and Electronic
/// Systems 44(2), 2008, for the positive errors of blocked paths; K. S. Lomax, *Business Failures: Another Example of
/// the Analysis of Failure Data*, JASA 49(268), 1954.
package struct RangeDensity: Sendable {
    private let inverseDeviation: Float
    private let coreScale: Float
    private let tailScale: Float
    private let inverseExcess: Float

    /// The share of arbitrary readings, and the range of distances in metres over which they are spread.
    private static let wrongShare = 1e-3
    private static let wrongSpan = 50.0
    private static let wrong = Float(wrongShare / wrongSpan)
    /// The number of standard deviations beyond which the normal density is below the density of an arbitrary reading.
    private static let reach: Float = 8
    /// The factor by which the logistic function approximates the normal distribution function to 0.01.
    private static let logistic: Float = 1.702

    /// - Parameters:
    ///   - deviation: standard deviation of the normal error in metres, above 0.
    ///   - excess: mean excess of a reflected path in metres, above 0.
    ///   - excessShare: the share of reflected paths, in [0, 1].
    package init(deviation: Double, excess: Double, excessShare: Double) {
        inverseDeviation = Float(1 / deviation)
        inverseExcess = Float(1 / excess)
        coreScale = Float((1 - excessShare) * (1 - Self.wrongShare) / (deviation * (2 * Double.pi).squareRoot()))
        // The integral is 1 if the tail is flat over the deviation: the distribution function of the normal error
        // replaces the step at 0, and adds as much below 0 as it removes above 0.
        tailScale = Float(2 * excessShare * (1 - Self.wrongShare) / excess)
    }

    /// Returns the density at an error in metres.
    @inline(__always)
    package func value(at error: Float) -> Float {
        let scaled = error * inverseDeviation
        var value = Self.wrong
        if abs(scaled) < Self.reach { value += coreScale * cmath_expf(-scaled * scaled / 2) }
        guard scaled > -Self.reach else { return value }
        let length = 1 + max(error, 0) * inverseExcess
        let tail = tailScale / (length * length * length)
        return value + (scaled > Self.reach ? tail : tail / (1 + cmath_expf(-Self.logistic * scaled)))
    }
}
