// Treats any bytes as advertising data: decoding must not trap, and its results must decode equal after encoding.
import BeaconScanning
import IndoorVocabulary

func fuzzAdvertisement(_ bytes: [UInt8]) throws(Finding) {
    guard case .beacon(var frame)? = try? BeaconFrame.decode(bytes.span) else { return }
    // A frame without a valid power isn't encoded; one of the same beacon with a power is.
    if frame.measuredPower == nil {
        if (try? frame.advertisingData()) != nil { throw Finding("\(frame) without a power was encoded") }
        frame.measuredPower = -59
    }
    guard let data = try? frame.advertisingData(), case .beacon(frame)? = try? BeaconFrame.decode(data.span) else {
        throw Finding("\(frame) does not decode to itself")
    }
}
