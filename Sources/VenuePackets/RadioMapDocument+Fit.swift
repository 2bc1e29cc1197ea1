import VenueModel

extension RadioMapDocument.Fit {
    init(_ fit: RadioMap.Fit) {
        floorLoss = fit.floorLoss
        rateLength = fit.rateLength
        ratePriorDetections = fit.ratePriorDetections
        supportWidth = fit.supportWidth
        unsupportedShare = fit.unsupportedShare
        coverage = fit.coverage
        bodyDeviation = fit.bodyDeviation
        receiverDeviation = fit.receiverDeviation
        devices =
            fit.devices.isEmpty
            ? nil : fit.devices.mapValues { RadioMapDocument.Receiver(offset: $0.offset, deviation: $0.deviation) }
    }

    /// The same, if positioning can rely on it.
    ///
    /// - Throws: `PacketFileError` with the path of the first number that is wrong.
    func checked() throws(PacketFileError) -> RadioMap.Fit {
        try check(floorLoss, "floorLoss", in: 0...100, unit: "dB")
        try check(rateLength, "rateLength", in: 0.01...1000, unit: "m")
        try check(ratePriorDetections, "ratePriorDetections", in: 0.001...1_000_000, unit: "detections")
        try check(supportWidth, "supportWidth", in: 0.01...1000, unit: "m")
        try check(unsupportedShare, "unsupportedShare", in: 1e-9...1, unit: "of 1")
        try check(coverage, "coverage", in: 0...1, unit: "of 1")
        try check(bodyDeviation, "bodyDeviation", in: 0...50, unit: "dB")
        try check(receiverDeviation, "receiverDeviation", in: 0...50, unit: "dB")
        for (name, receiver) in devices?.sorted(by: { $0.key < $1.key }) ?? [] {
            try check(receiver.offset, "devices.\(name).offset", in: -50...50, unit: "dB")
            try check(receiver.deviation, "devices.\(name).deviation", in: 0...50, unit: "dB")
        }
        var fit = RadioMap.Fit()
        fit.floorLoss = floorLoss
        fit.rateLength = rateLength
        fit.ratePriorDetections = ratePriorDetections
        fit.supportWidth = supportWidth
        fit.unsupportedShare = unsupportedShare
        fit.coverage = coverage
        fit.bodyDeviation = bodyDeviation
        fit.receiverDeviation = receiverDeviation
        fit.devices =
            devices?.mapValues { RadioMap.Receiver(offset: $0.offset, deviation: $0.deviation) } ?? [:]
        return fit
    }

    private func check(
        _ number: Double?, _ name: String, in range: ClosedRange<Double>, unit: String
    ) throws(PacketFileError) {
        guard let number, !range.contains(number) else { return }
        throw PacketFileError(
            message: "is \(number); give \(range.lowerBound) to \(range.upperBound) \(unit), or survey anew",
            path: "$.fit.\(name)")
    }
}
