import CMath
import IndoorVocabulary
import VenueModel

/// The numbers of the measurement model, with their reasons.
///
/// Found on the surveys of ten public data sets by leaving places out; none is tuned to one building.
public struct SignalModel: Hashable, Sendable {
    /// The path-loss exponent without a survey.
    public var pathLossExponent = 2.4
    /// The signal strength at 1 m in dBm, unless the venue or a survey specifies it.
    public var defaultPower = -62.0
    /// The signal loss through one floor in dB, without a survey.
    public var floorLoss = 15.0
    /// The default height difference between device and beacon in metres.
    public var heightDifference = 0.5

    /// The standard deviation of the shadowing at a place, in dB.
    public var shadowing = 4.0
    /// The correlation distance of shadowing in metres.
    public var shadowingLength = 8.0
    /// Standard deviation of a beacon's power from its learned value, in dB.
    public var powerDeviation = 5.0
    /// Standard deviation of a survey reading beyond fast fading, in dB.
    public var surveyNoise = 1.5
    /// Standard deviation of one reading by fast fading and advertising channel, in dB.
    public var fastFading = 2.5
    /// The maximum number of readings at one place that improve their mean.
    public var readingCap = 10
    /// The remaining shadowing without a survey, in dB.
    public var unsurveyedDeviation = 5.0

    /// Standard deviation of a mean reading from the table, in dB, where no survey tells.
    public var readingDeviation = 3.0
    /// The additional deviation after the survey in dB, such as by another body, orientation, people or doors.
    public var unseenDeviation = 2.0
    /// Degrees of freedom of Student's t distribution of the readings.
    public var degreesOfFreedom = 16.0
    /// Only the RSSI of this many strongest beacons counts, which bounds the time that a step takes.
    public var beaconLimit = 64
    /// The same where there is no survey: the errors of the far beacons come from the same walls, which no map knows, so that
    /// many of them would outvote the near ones.
    public var unsurveyedBeaconLimit = 16
    /// Of each beacon, only the newest this many readings count for a position. By default all of them do: readings count for
    /// 4 s at most, and the mean of many is less noisy than that of the last twelve.
    public var readingLimit = SignalModel.unlimited
    /// The time in seconds within which readings of one beacon share their shadowing.
    public var correlationTime = 1.0

    /// The distance in metres over which detection rates are averaged, without a survey.
    public var rateLength = 1.5
    /// Longest listening time, in seconds, that a survey place counts with in detection rates.
    public var rateDurationCap = 4.0
    /// The rate expected from path loss weighs as much as this many detections that the survey heard, if that tells no
    /// other number, …
    public var ratePriorDetections = 0.1
    /// … but no more than this many seconds of its listening.
    public var ratePrior = 2.0
    /// Detections a second assumed, of all beacons together, where the survey heard none and path loss is too high.
    public var unheardRate = 0.05
    /// The RSSI in dBm at which the radio receives half of a beacon's advertisements, without a survey.
    public var sensitivity = -85.0
    /// Decibels around the sensitivity over which beacons cease to be heard, as the scale of a logistic function.
    public var sensitivityWidth = 4.0
    /// The weight of the detection evidence without a survey; 0 ignores missing detections.
    public var unsurveyedDetectionWeight = 0.5
    /// Detections a second assumed there, of all beacons together, where path loss expects none.
    public var unsurveyedRate = 0.4
    /// The weight of the detection evidence.
    public var detectionWeight = 1.0

    /// Standard deviation of the receiver's offset from the one that the map was made with, in dB.
    public var receiverOffsetDeviation = 9.0

    /// The drift of the receiver's offset per second, in dB.
    public var receiverWander = 0.1
    /// How many times its variance a reading's error counts for in the estimate of the receiver's offset; above 1, as
    /// successive readings share a part of their error.
    public var receiverCaution = 1.0
    /// Standard deviation along each axis, in dB, of what the body of whoever carries the device takes from the beacons
    /// behind, where no survey tells.
    public var bodyDeviation = 2.0
    /// Seconds over which that body faces one way.
    public var bodyTime = 6.0

    /// Width in metres of the band around the survey's places within which people are expected, where these don't tell.
    public var supportWidth = 2.0
    /// How likely a place far from the survey is, against one on it, where its places don't tell.
    public var unsupportedShare = 0.02
    /// How much people are expected to keep to the venue's paths, in [0, 0.999]: a place far from them is `1 - pathShare`
    /// times as likely as one on them. 0 leaves the paths out.
    public var pathShare = 0.0
    /// Metres from a path within which people are expected on it, as a standard deviation.
    public var pathWidth = 1.5

    /// More readings than any beacon sends while they count.
    static let unlimited = 1_000_000

    /// Creates the model with its default numbers.
    public init() {}

    /// The model with the numbers that a venue's survey tells, or with those for a venue without a survey; to be asked of a
    /// model as it is set, not of one that this has given.
    func fitted(to radioMap: RadioMap?) -> SignalModel {
        var model = self
        guard let fit = radioMap?.fit else {
            model.beaconLimit = min(beaconLimit, unsurveyedBeaconLimit)
            model.unheardRate = unsurveyedRate
            model.detectionWeight = unsurveyedDetectionWeight
            return model
        }
        model.floorLoss = fit.floorLoss ?? floorLoss
        model.rateLength = fit.rateLength ?? rateLength
        model.ratePriorDetections = fit.ratePriorDetections ?? ratePriorDetections
        model.supportWidth = fit.supportWidth ?? supportWidth
        model.unsupportedShare = fit.unsupportedShare ?? unsupportedShare
        model.bodyDeviation = fit.bodyDeviation ?? bodyDeviation
        if let coverage = fit.coverage {
            // Where the survey was not, silence tells no more than without one.
            let rest = 1 - coverage
            model.detectionWeight = coverage * detectionWeight + rest * min(detectionWeight, unsurveyedDetectionWeight)
            model.unheardRate = coverage * unheardRate + rest * max(unheardRate, unsurveyedRate)
        }
        // Whoever sets it to 0 knows that the receiver is the survey's.
        if receiverOffsetDeviation > 0 {
            model.receiverOffsetDeviation = max(receiverOffsetDeviation, fit.receiverDeviation ?? 0)
        }
        return model
    }

    /// Detections a second of one of `count` beacons where it should not be heard: in a venue with many beacons each is as
    /// much rarer, or all of them together would seem to be heard everywhere.
    func unheardRate(of count: Int) -> Double { unheardRate / Double(max(1, count)) }

    /// Correlation of shadowing at two places `distance` metres apart: Matérn with ν = 3/2.
    ///
    /// Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.17.
    func shadowingCorrelation(distance: Double) -> Double {
        let scaled = 1.732_050_807_568_877_2 * distance / shadowingLength
        return (1 + scaled) * cmath_exp(-scaled)
    }

    /// Variance in dB² of a mean of `count` survey readings about the field, if the place is known to within `deviation`
    /// metres along each axis.
    ///
    /// An error of the place is one of the reading: as large as the field is steep there, by shadowing and, as far away as
    /// that reaches, by path loss. Source: A. McHutchon, C. E. Rasmussen, *Gaussian Process Training with Input Noise*,
    /// NIPS 2011.
    func surveyVariance(count: Int, deviation: Double = 0) -> Double {
        let reading = surveyNoise * surveyNoise + fastFading * fastFading / Double(min(max(count, 1), readingCap))
        guard deviation > 0 else { return reading }
        let fall = 4.343 * pathLossExponent / shadowingLength
        let slope = 3 * shadowing * shadowing / (shadowingLength * shadowingLength) + fall * fall
        return reading + slope * deviation * deviation
    }

    /// The RSSI in dBm that path loss expects of a beacon at a point of its own map.
    func expectedRSSI(of beacon: RadioMap.Beacon, exponent: Double, at point: MapPoint) -> Double {
        pathLoss(
            power: beacon.power, exponent: exponent, planar: point.distance(to: beacon.point), height: heightDifference)
    }

    /// The mean RSSI in dBm of a beacon with `power` at 1 m, `planar` metres away in the plan.
    func pathLoss(power: Double, exponent: Double, planar: Double, height: Double) -> Double {
        power - 5 * exponent * cmath_log10(planar * planar + height * height)
    }
}
