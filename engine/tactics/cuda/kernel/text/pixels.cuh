// Four pixels of a picture of up to 4 channels, which lies in planes in order and becomes 4
// channels a pixel.

// v[c][i]: channel c of the pixel `first[i]` of the first plane; zeros where there is no channel.
template <typename T>
__device__ __forceinline__ void load_pixels(const T* first, long long plane, int channels,
                                            float (&v)[4][4]) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    if (c < channels)
      load_vector<4>(first + c * plane, v[c]);
    else
      v[c][0] = v[c][1] = v[c][2] = v[c][3] = 0.0f;
  }
}

template <typename T>
__device__ __forceinline__ void store_pixels(T* y, const float (&v)[4][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float out[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) out[j] = v[j % 4][half * 2 + j / 4];
    store_vector<8>(y + half * 8, out);
  }
}
