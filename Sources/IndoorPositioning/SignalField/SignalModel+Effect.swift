import VenueModel

extension SignalModel {
    /// Returns the path-loss exponent of beacons without one of their own: that of the survey, if there is one.
    func usualExponent(with radioMap: RadioMap?) -> Double { radioMap?.pathLossExponent ?? pathLossExponent }

    /// Returns the standard deviation of a mean reading in dB: that of the survey, if it determines it.
    func readingDeviation(with radioMap: RadioMap?) -> Double { radioMap?.readingDeviation ?? readingDeviation }

    /// Returns the values on which positions in a venue depend. A value that the venue's data replace is the one that
    /// replaces it, and a value that nothing reads is the default.
    ///
    /// Two models with the same result give the same positions.
    package func inEffect(in venue: Venue) -> SignalModel {
        var model = fitted(to: venue.radioMap)
        let standard = SignalModel()
        // Only `fitted(to:)` reads these, and has read them.
        model.unsurveyedBeaconLimit = standard.unsurveyedBeaconLimit
        model.unsurveyedRate = standard.unsurveyedRate
        model.unsurveyedDetectionWeight = standard.unsurveyedDetectionWeight
        model.readingDeviation = readingDeviation(with: venue.radioMap)
        if let radioMap = venue.radioMap, !radioMap.beacons.isEmpty {
            model.unsurveyedDeviation = standard.unsurveyedDeviation
            // The exponent is also the slope by which an inexact place changes a reading.
            if radioMap.fingerprints.allSatisfy({ $0.deviation == 0 }) {
                model.pathLossExponent = usualExponent(with: radioMap)
            }
        }
        if venue.paths == nil { model.pathShare = 0 }
        if model.pathShare == 0 { model.pathWidth = standard.pathWidth }
        return model
    }
}
